#include "stepwright/framework_files/huggingface/fsdp_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/lower_case.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright::framework_files {
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

std::optional<DocumentNode> with_or_without_prefix(const FrameworkSettingsReader& section,
                                                   std::string_view key) {
  if (const auto value = section.find(key)) return value;
  return section.find(fmt::format("fsdp_{}", key));
}

}  // namespace

FsdpOptions sharding_of_fsdp_setting(std::string text, DocumentNode place) {
  text = to_lower_case(text);
  for (const Strategy& known : kStrategies) {
    if (text != known.word && text != known.number) continue;
    return {.states = std::string(known.states), .by_node = known.by_node};
  }
  place.fail(
      "must be true, false, full_shard, shard_grad_op, no_shard, hybrid_shard or "
      "hybrid_shard_zero2");
}

bool selects_fsdp2(const std::optional<DocumentNode>& version, bool usual) {
  return version && version->is_scalar() && !version->is_null() ? version->text() == "2" : usual;
}

FsdpOptions read_fsdp_section(const FrameworkSettingsReader& section, FsdpOptions usual) {
  FsdpOptions choice = std::move(usual);
  for (const std::string_view key : {"version", "fsdp_version"}) {
    choice.mesh = selects_fsdp2(section.node().find(key), choice.mesh);
  }
  const auto take = [&choice](DocumentNode word) {
    const FsdpOptions said = sharding_of_fsdp_setting(word.text(), word);
    choice.states = said.states;
    choice.by_node = said.by_node;
  };
  if (const auto again = with_or_without_prefix(section, "reshard_after_forward")) {
    take(*again);
  } else if (const auto strategy = with_or_without_prefix(section, "sharding_strategy")) {
    take(*strategy);
  }
  const auto checkpointing = with_or_without_prefix(section, "activation_checkpointing");
  choice.checkpointing = checkpointing && checkpointing->boolean();
  // Keeps inputs in host memory if activation_checkpointing_offload is set: huggingface/accelerate
  // src/accelerate/utils/dataclasses.py.
  const auto moved = with_or_without_prefix(section, "activation_checkpointing_offload");
  choice.offloads_layer_inputs = choice.checkpointing && moved && moved->boolean();
  for (const std::string_view key : {"offload_params", "cpu_offload"}) {
    const auto offload = with_or_without_prefix(section, key);
    if (!offload) continue;
    choice.offload.reset();
    if (offload->boolean()) choice.offload = make_unread_setting(*offload);
  }
  return choice;
}

DocumentTree fsdp_config_tree(const plan::Plan& plan, bool checkpointing) {
  DocumentTree section = DocumentTree::make_empty_mapping();
  section.set("fsdp_version", 2);
  section.set("fsdp_reshard_after_forward",
              plan.sharding.parameters != plan::StateShardingScope::kNone);
  section.set("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  section.set("fsdp_activation_checkpointing", checkpointing);
  section.set("fsdp_offload_params", needs_fsdp_cpu_offload(plan));
  section.set("fsdp_state_dict_type", "SHARDED_STATE_DICT");
  return section;
}

bool shards_optimizer_states(const plan::Plan& plan) {
  const plan::Sharding& sharding = plan.sharding;
  if (sharding.optimizer == plan::StateShardingScope::kNone) return false;
  if (sharding.uses(plan::StateShardingScope::kInner)) return sharding.group > 1;
  return plan.parallel.data * plan.parallel.context > 1;
}

bool needs_fsdp_cpu_offload(const plan::Plan& plan) { return plan.offload.optimizer > 0; }

void set_fsdp_host_offload(const SettingNotInPlan& setting, PartialPlan& settled,
                           ImportReport& report) {
  plan::Plan& plan = settled.plan;
  if (!plan::traits_of(settled.optimizer).can_offload) {
    return report.add_unmodelled_setting(
        setting, fmt::format("states on the host: those of {} are counted on the devices",
                             name_of(plan::kOptimizerNames, settled.optimizer)));
  }
  plan.offload.optimizer = 1;
  const bool shared = shards_optimizer_states(plan);
  plan.offload.parameters = shared && plan.sharding.parameters != plan::StateShardingScope::kNone;
  if (shared) return;
  report.add_unmodelled_setting(
      setting,
      "parameters and gradients on the host, which no plan has of states that ranks do "
      "not share: they are counted on the devices");
}

void apply_fsdp_options(const FsdpOptions& choice, std::int64_t copies, PartialPlan& settled,
                        const JobRankCounts& extent, ImportReport& report) {
  plan::Plan& plan = settled.plan;
  std::string states = choice.states;
  std::int64_t group = plan.parallel.data / copies * plan.parallel.context;
  if (choice.by_node) {
    group = extent.cluster.devices_per_node;
    report.add_assumption("sharding.group",
                          "hybrid sharding shares them among the devices of a node");
  } else if (copies > 1) {
    std::ranges::replace(states, 'G', 'I');
  }
  if (group == 1) states = "NNN";
  plan.sharding = plan::sharding_named_by_word(states).value();
  if (plan.sharding.uses(plan::StateShardingScope::kInner)) plan.sharding.group = group;
  if (!choice.mesh) {
    settled.space.tensor = {plan.parallel.tensor};
    settled.space.context = {plan.parallel.context};
  }
  if (choice.checkpointing) plan.recompute.kind = plan::RecomputeKind::kFull;
  if (choice.offloads_layer_inputs) plan.offload.move_inputs();
  if (choice.offload) set_fsdp_host_offload(*choice.offload, settled, report);
}

}  // namespace stepwright::framework_files
