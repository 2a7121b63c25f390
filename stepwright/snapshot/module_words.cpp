#include "stepwright/snapshot/module_words.h"

#include <string>

#include "stepwright/core/lower_case.h"

namespace stepwright::snapshot {
namespace {

/// A word in names of modules of PyTorch programs (`LlamaRMSNorm.forward`, `feed_forward.py`,
/// `Qwen3MoeSparseMoeBlock`) and of parts of layers (step/layer_part.h).
struct ModuleWord {
  std::string_view word;
  StackModuleKind module;
};

/// Words in order of precedence: the first one that occurs in a text counts. "norm.mlp" is a norm,
/// "moe/mlp.py" experts.
constexpr ModuleWord kModuleWords[] = {
    {"norm", StackModuleKind::kNorm},          {"attention", StackModuleKind::kAttention},
    {"attn", StackModuleKind::kAttention},     {"rotary", StackModuleKind::kAttention},
    {"expert", StackModuleKind::kExperts},     {"moe", StackModuleKind::kExperts},
    {"router", StackModuleKind::kExperts},     {"mlp", StackModuleKind::kMlp},
    {"feed_forward", StackModuleKind::kMlp},   {"feedforward", StackModuleKind::kMlp},
    {"swiglu", StackModuleKind::kMlp},         {"embed", StackModuleKind::kEmbedding},
    {"lm_head", StackModuleKind::kHead},       {"output_layer", StackModuleKind::kHead},
    {"cross_entropy", StackModuleKind::kHead}, {"logits", StackModuleKind::kHead},
    {"loss", StackModuleKind::kHead},          {"optim", StackModuleKind::kOptimizer},
    {"adam", StackModuleKind::kOptimizer},     {"muon", StackModuleKind::kOptimizer}};

}  // namespace

StackModuleKind stack_module_kind_by_name(std::string_view text) {
  const std::string lower = to_lower_case(text);
  for (const auto& [word, module] : kModuleWords) {
    if (lower.find(word) != std::string::npos) return module;
  }
  return StackModuleKind::kUnknown;
}

}  // namespace stepwright::snapshot
