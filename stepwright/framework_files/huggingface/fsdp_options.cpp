#include "stepwright/framework_files/huggingface/fsdp_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace stepwright {
namespace {

struct Strategy {
  std::string_view word, number, states;
  bool by_node = false;
};
constexpr Strategy kStrategies[] = {{"true", "", "GGG"},
                                    {"false", "", "NGG"},
                                    {"full_shard", "1", "GGG"},
                                    {"shard_grad_op", "2", "NGG"},
                                    {"no_shard", "3", "NNN"},
                                    {"hybrid_shard", "4", "III", true},
                                    {"hybrid_shard_zero2", "5", "NII", true}};

std::optional<Node> with_or_without_prefix(const Fields& section, std::string_view key) {
  if (const auto value = section.find(key)) return value;
  return section.find(fmt::format("fsdp_{}", key));
}

}  // namespace

FsdpChoice fsdp_choice(std::string text, Node place) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Strategy& known : kStrategies) {
    if (text != known.word && text != known.number) continue;
    return {.states = std::string(known.states), .by_node = known.by_node};
  }
  place.fail(
      "must be true, false, full_shard, shard_grad_op, no_shard, hybrid_shard or "
      "hybrid_shard_zero2");
}

FsdpChoice read_fsdp_section(const Fields& section, FsdpChoice usual) {
  FsdpChoice choice = std::move(usual);
  if (const auto again = with_or_without_prefix(section, "reshard_after_forward")) {
    choice = fsdp_choice(again->text(), *again);
  } else if (const auto strategy = with_or_without_prefix(section, "sharding_strategy")) {
    choice = fsdp_choice(strategy->text(), *strategy);
  }
  const auto checkpointing = with_or_without_prefix(section, "activation_checkpointing");
  choice.checkpointing = checkpointing && checkpointing->boolean();
  return choice;
}

Tree fsdp_section(const Plan& plan, bool checkpointing) {
  Tree section = Tree::mapping();
  section.set("fsdp_version", 2);
  section.set("fsdp_reshard_after_forward", plan.sharding.parameters != Spread::kNone);
  section.set("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  section.set("fsdp_activation_checkpointing", checkpointing);
  section.set("fsdp_offload_params", false);
  section.set("fsdp_state_dict_type", "SHARDED_STATE_DICT");
  return section;
}

void spread_states(const FsdpChoice& choice, std::int64_t copies, Draft& draft) {
  Plan& plan = draft.plan;
  std::string states = choice.states;
  std::int64_t group = plan.parallel.data / copies * plan.parallel.context;
  if (choice.by_node) {
    group = draft.cluster.devices_per_node;
    draft.assume("sharding.group", "hybrid sharding shares them among the devices of a node");
  } else if (copies > 1) {
    std::ranges::replace(states, 'G', 'I');
  }
  if (group == 1) states = "NNN";
  plan.sharding = sharding_of(states).value();
  if (plan.sharding.uses(Spread::kInner)) plan.sharding.group = group;
  if (choice.checkpointing) plan.recompute.kind = RecomputeKind::kFull;
}

}  // namespace stepwright
