#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/megatron/rules.h"

namespace stepwright::framework_files {
namespace {

// Settings in this file (NVIDIA/Megatron-LM megatron/core/transformer/transformer_config.py):
// recompute_granularity, recompute_method, recompute_modules.

/// Returns the word of `--recompute-modules` for a module.
std::string_view megatron_word(const Named<plan::Module>& module) {
  return module.value == plan::Module::kNorm ? "layernorm" : module.name;
}

/// Sets the recomputed modules from a list or a word; unknown words are left out.
void read_modules(Node list, RuleReadResult& reading) {
  plan::Recompute recompute{.kind = plan::RecomputeKind::kModules};
  const std::size_t count = list.is_sequence() ? list.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string word = list.is_sequence() ? list.at(i).text() : list.text();
    const auto* const known = std::ranges::find(plan::kModuleNames, word, megatron_word);
    if (known != std::end(plan::kModuleNames) && known->value != plan::Module::kPerOperator) {
      recompute.modules.add(known->value);
    } else {
      reading.left_out.emplace_back(list,
                                    fmt::format("recomputation of the module {}", printable(word)));
    }
  }
  reading.plan.recompute = recompute.modules.empty() ? plan::Recompute() : recompute;
}

/// Reads a number of layers of each chunk, the first ones, that are recomputed in full.
void read_block(Node count, plan::Recompute& recompute) {
  const std::int64_t layers = count.integer(0, model::kLargestLayerCount);
  recompute = {};
  if (layers > 0) recompute = {.kind = plan::RecomputeKind::kEvery, .first = layers};
}

/// Reads how many layers of each chunk are recomputed, or how many share one kept input.
void read_full(const Fields& fields, RuleReadResult& reading) {
  const auto count = fields.find("recompute_num_layers");
  if (!count) return;
  const bool block = fields.word("recompute_method", "uniform") == "block" ||
                     fields.word("activations_checkpoint_method", "uniform") == "block";
  if (block) return read_block(*count, reading.plan.recompute);
  const std::int64_t layers = count->integer(1, model::kLargestLayerCount);
  if (layers == 1) return;
  reading.left_out.emplace_back(
      *count, fmt::format("that one input of {} layers is kept: here those of all are", layers));
}

void read_recompute(const Fields& fields, const KnownJobFacts& /*known*/, RuleReadResult& reading) {
  static constexpr Named<plan::RecomputeKind> kKinds[] = {
      {plan::RecomputeKind::kNone, "none"},
      {plan::RecomputeKind::kSelective, "selective"},
      {plan::RecomputeKind::kFull, "full"}};
  plan::Recompute& recompute = reading.plan.recompute;
  const bool older = fields.has("activations_checkpoint_method");
  recompute.kind = fields.choice("recompute_granularity", kKinds,
                                 older ? plan::RecomputeKind::kFull : plan::RecomputeKind::kNone);
  const auto modules = fields.find("recompute_modules");
  if (recompute.kind == plan::RecomputeKind::kSelective && modules) read_modules(*modules, reading);
  if (fields.flag("moe_layer_recompute", false) && recompute.kind != plan::RecomputeKind::kFull) {
    if (recompute.kind == plan::RecomputeKind::kSelective)
      recompute.modules.add(plan::Module::kCoreAttention);
    recompute.kind = plan::RecomputeKind::kModules;
    recompute.modules.add(plan::Module::kMoe);
  }
  if (recompute.kind == plan::RecomputeKind::kFull) read_full(fields, reading);
}

void write_recompute(const plan::PlannedJob& planned, std::string_view /*release*/, Tree& fields) {
  const plan::Recompute& recompute = planned.plan.recompute;
  if (recompute.kind == plan::RecomputeKind::kSelective) {
    fields.set("recompute_granularity", "selective");
  }
  if (recompute.kind == plan::RecomputeKind::kModules) {
    fields.set("recompute_granularity", "selective");
    Tree modules = Tree::flow_sequence();
    for (const Named<plan::Module>& module : plan::kModuleNames) {
      if (!recompute.modules.has(module.value)) continue;
      modules.add(Tree::scalar(std::string(megatron_word(module)), false));
    }
    fields.set("recompute_modules", modules);
  }
  if (recompute.kind == plan::RecomputeKind::kFull) {
    fields.set("recompute_granularity", "full");
    fields.set("recompute_method", "uniform").set("recompute_num_layers", 1);
  }
  if (recompute.kind == plan::RecomputeKind::kEvery) {
    fields.set("recompute_granularity", "full");
    fields.set("recompute_method", "block").set("recompute_num_layers", recompute.first);
  }
}

}  // namespace

constinit const Rule kRecompute{.read = read_recompute, .write = write_recompute};

}  // namespace stepwright::framework_files
