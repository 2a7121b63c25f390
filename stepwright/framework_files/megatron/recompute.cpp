#include "stepwright/framework_files/megatron/recompute.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/utf8.h"

namespace stepwright::framework_files {
namespace {

/// A module in the words of `--recompute-modules`.
std::string_view megatron_word(const Named<plan::Module>& module) {
  return module.value == plan::Module::kNorm ? "layernorm" : module.name;
}

/// A list of modules, or one; what is not known of them is left out.
plan::Recompute listed_modules(Node list, Draft& draft) {
  plan::Recompute recompute{.kind = plan::RecomputeKind::kModules};
  const std::size_t count = list.is_sequence() ? list.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string word = list.is_sequence() ? list.at(i).text() : list.text();
    const auto* const known = std::ranges::find(plan::kModuleNames, word, megatron_word);
    if (known != std::end(plan::kModuleNames) && known->value != plan::Module::kPerOperator) {
      recompute.modules.add(known->value);
    } else {
      draft.leave_out(list, fmt::format("recomputation of the module {}", printable(word)));
    }
  }
  return recompute.modules.empty() ? plan::Recompute() : recompute;
}

/// Of the first layers of each chunk, which is all that a chunk has or what no plan says.
void read_full_recompute(const Fields& fields, Draft& draft) {
  const auto count = fields.find("recompute_num_layers");
  if (!count) return;
  const std::int64_t layers = count->integer(1, model::kLargestLayers);
  const bool block = fields.word("recompute_method", "uniform") == "block" ||
                     fields.word("activations_checkpoint_method", "uniform") == "block";
  if (!block) {
    if (layers > 1) {
      draft.leave_out(*count, fmt::format("that one input of {} layers is kept: here those of all "
                                          "are",
                                          layers));
    }
    return;
  }
  const std::int64_t chunks =
      draft.plan.parallel.pipeline * std::max<std::int64_t>(draft.plan.schedule.chunks, 1);
  const std::int64_t held = fields.integer("num_layers", 1) / chunks;
  if (layers < held) {
    draft.leave_out(*count, fmt::format("that of {} layers of a stage only the first {} are "
                                        "recomputed: here all are",
                                        held, layers));
  }
}

}  // namespace

void add_recompute_fields(Tree& fields, const plan::Plan& plan) {
  if (plan.recompute.kind == plan::RecomputeKind::kSelective) {
    fields.set("recompute_granularity", "selective");
  }
  if (plan.recompute.kind == plan::RecomputeKind::kModules) {
    fields.set("recompute_granularity", "selective");
    Tree modules = Tree::flow_sequence();
    for (const Named<plan::Module>& module : plan::kModuleNames) {
      if (!plan.recompute.modules.has(module.value)) continue;
      modules.add(Tree::scalar(std::string(megatron_word(module)), false));
    }
    fields.set("recompute_modules", modules);
  }
  if (plan.recompute.kind == plan::RecomputeKind::kFull) {
    fields.set("recompute_granularity", "full");
    fields.set("recompute_method", "uniform");
    fields.set("recompute_num_layers", 1);
  }
}

void read_recompute_fields(const Fields& fields, Draft& draft) {
  static constexpr Named<plan::RecomputeKind> kKinds[] = {
      {plan::RecomputeKind::kNone, "none"},
      {plan::RecomputeKind::kSelective, "selective"},
      {plan::RecomputeKind::kFull, "full"}};
  plan::Recompute& recompute = draft.plan.recompute;
  const bool older = fields.has("activations_checkpoint_method");
  recompute.kind = fields.choice("recompute_granularity", kKinds,
                                 older ? plan::RecomputeKind::kFull : plan::RecomputeKind::kNone);
  const auto modules = fields.find("recompute_modules");
  if (recompute.kind == plan::RecomputeKind::kSelective && modules) {
    recompute = listed_modules(*modules, draft);
  }
  if (fields.flag("moe_layer_recompute", false) && recompute.kind != plan::RecomputeKind::kFull) {
    if (recompute.kind == plan::RecomputeKind::kSelective)
      recompute.modules.add(plan::Module::kCoreAttention);
    recompute.kind = plan::RecomputeKind::kModules;
    recompute.modules.add(plan::Module::kMoe);
  }
  if (recompute.kind == plan::RecomputeKind::kFull) read_full_recompute(fields, draft);
}

}  // namespace stepwright::framework_files
