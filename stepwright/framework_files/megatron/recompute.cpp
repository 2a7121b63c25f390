#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/megatron/rules.h"

namespace stepwright::framework_files {
namespace {

// Settings in this file (NVIDIA/Megatron-LM megatron/core/transformer/transformer_config.py):
// recompute_granularity, recompute_method, recompute_modules.

/// Returns the word of `--recompute-modules` for a module.
std::string_view megatron_word(const Named<plan::RecomputeModule>& module) {
  return module.value == plan::RecomputeModule::kNorm ? "layernorm" : module.name;
}

/// Sets the recomputed modules from a list or a word; unknown words are left out.
void read_modules(DocumentNode list, SettingRuleReadResult& reading) {
  plan::ActivationRecomputation recompute{.kind = plan::RecomputeKind::kModules};
  const std::size_t count = list.is_sequence() ? list.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string word = list.is_sequence() ? list.at(i).text() : list.text();
    const auto* const known = std::ranges::find(plan::kModuleNames, word, megatron_word);
    if (known != std::end(plan::kModuleNames) &&
        known->value != plan::RecomputeModule::kPerOperator) {
      recompute.modules.add(known->value);
    } else {
      reading.left_out.emplace_back(
          list, fmt::format("recomputation of the module {}", one_line_printable_text(word)));
    }
  }
  reading.plan.recompute = recompute.modules.empty() ? plan::ActivationRecomputation() : recompute;
}

/// Reads a number of layers of each chunk, the first ones, that are recomputed in full.
void read_block(DocumentNode count, plan::ActivationRecomputation& recompute) {
  const std::int64_t layers = count.integer(0, model::kMaxModelLayers);
  recompute = {};
  if (layers > 0) recompute = {.kind = plan::RecomputeKind::kEvery, .first = layers};
}

/// Reads how many layers of each chunk are recomputed, or how many share one kept input.
void read_full(const FrameworkSettingsReader& fields, SettingRuleReadResult& reading) {
  const auto count = fields.find("recompute_num_layers");
  if (!count) return;
  const bool block = fields.word("recompute_method", "uniform") == "block" ||
                     fields.word("activations_checkpoint_method", "uniform") == "block";
  if (block) return read_block(*count, reading.plan.recompute);
  const std::int64_t layers = count->integer(1, model::kMaxModelLayers);
  if (layers == 1) return;
  reading.left_out.emplace_back(
      *count, fmt::format("that one input of {} layers is kept: here those of all are", layers));
}

void read_recompute(const FrameworkSettingsReader& fields, const KnownJobFacts& /*known*/,
                    SettingRuleReadResult& reading) {
  static constexpr Named<plan::RecomputeKind> kKinds[] = {
      {plan::RecomputeKind::kNone, "none"},
      {plan::RecomputeKind::kSelective, "selective"},
      {plan::RecomputeKind::kFull, "full"}};
  plan::ActivationRecomputation& recompute = reading.plan.recompute;
  const bool older = fields.has("activations_checkpoint_method");
  recompute.kind = fields.choice("recompute_granularity", kKinds,
                                 older ? plan::RecomputeKind::kFull : plan::RecomputeKind::kNone);
  const auto modules = fields.find("recompute_modules");
  if (recompute.kind == plan::RecomputeKind::kSelective && modules) read_modules(*modules, reading);
  if (fields.flag("moe_layer_recompute", false) && recompute.kind != plan::RecomputeKind::kFull) {
    if (recompute.kind == plan::RecomputeKind::kSelective)
      recompute.modules.add(plan::RecomputeModule::kCoreAttention);
    recompute.kind = plan::RecomputeKind::kModules;
    recompute.modules.add(plan::RecomputeModule::kMoe);
  }
  if (recompute.kind == plan::RecomputeKind::kFull) read_full(fields, reading);
}

void write_recompute(const plan::PlannedJob& planned, std::string_view /*release*/,
                     DocumentTree& fields) {
  const plan::ActivationRecomputation& recompute = planned.plan.recompute;
  if (recompute.kind == plan::RecomputeKind::kSelective) {
    fields.set("recompute_granularity", "selective");
  }
  if (recompute.kind == plan::RecomputeKind::kModules) {
    fields.set("recompute_granularity", "selective");
    DocumentTree modules = DocumentTree::empty_flow_sequence();
    for (const Named<plan::RecomputeModule>& module : plan::kModuleNames) {
      if (!recompute.modules.has(module.value)) continue;
      modules.add(DocumentTree::make_scalar(std::string(megatron_word(module)), false));
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

constinit const SettingTranslationRule kRecompute{.read = read_recompute, .write = write_recompute};

}  // namespace stepwright::framework_files
