#include "stepwright/snapshot/module_words.h"

#include <string>

#include "stepwright/core/lower_case.h"

namespace stepwright::snapshot {
namespace {

/// A word in names of modules of PyTorch programs (`LlamaRMSNorm.forward`, `feed_forward.py`,
/// `Qwen3MoeSparseMoeBlock`) and of parts of layers (step/layer_part.h).
struct ModuleWord {
  std::string_view word;
  Module module;
};

/// Words in order of precedence: the first one that occurs in a text counts. "norm.mlp" is a norm,
/// "moe/mlp.py" experts.
constexpr ModuleWord kModuleWords[] = {
    {"norm", Module::kNorm},          {"attention", Module::kAttention},
    {"attn", Module::kAttention},     {"rotary", Module::kAttention},
    {"expert", Module::kExperts},     {"moe", Module::kExperts},
    {"router", Module::kExperts},     {"mlp", Module::kMlp},
    {"feed_forward", Module::kMlp},   {"feedforward", Module::kMlp},
    {"swiglu", Module::kMlp},         {"embed", Module::kEmbedding},
    {"lm_head", Module::kHead},       {"output_layer", Module::kHead},
    {"cross_entropy", Module::kHead}, {"logits", Module::kHead},
    {"loss", Module::kHead},          {"optim", Module::kOptimizer},
    {"adam", Module::kOptimizer},     {"muon", Module::kOptimizer}};

}  // namespace

Module module_of(std::string_view text) {
  const std::string lower = lower_case(text);
  for (const auto& [word, module] : kModuleWords) {
    if (lower.find(word) != std::string::npos) return module;
  }
  return Module::kUnknown;
}

}  // namespace stepwright::snapshot
