#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/megatron/rules.h"

namespace stepwright::framework_files {
namespace {

// Settings in this file: NVIDIA/Megatron-LM
// megatron/core/distributed/distributed_data_parallel_config.py.

constexpr std::int64_t kLeastBucket = 40'000'000;
constexpr std::int64_t kBucketOfRank = 1'000'000;

/// Megatron's words for one way to shard states: plain data parallelism, or its FSDP within and
/// outside of optimizer instances.
struct MegatronSharding {
  std::string_view states;
  std::string_view fsdp;  ///< Megatron's word for the FSDP strategy; empty: no FSDP.
  std::string_view outer;
  bool optimizer = false;
  bool instances = false;
};
constexpr MegatronSharding kMegatronShardings[] = {
    {"NNN", "", "", false, false},
    {"NNG", "", "", true, false},
    {"NNI", "", "", true, true},
    {"NGG", "optim_grads", "", true, false},
    {"GGG", "optim_grads_params", "", true, false},
    {"III", "optim_grads_params", "no_shard", true, true},
    {"IIG", "optim_grads_params", "optim", true, true}};

/// Fails for sharded states that no plan expresses.
[[noreturn]] void fail_sharding(const FrameworkSettingsReader& fields, std::string_view fsdp,
                                std::string_view outer) {
  const std::string message = fmt::format(
      "states sharded as '{}', '{}' in instances: nothing covers it; known are optim_grads, "
      "optim_grads_params and, in instances, optim_grads_params with no_shard or optim outside",
      one_line_printable_text(fsdp), one_line_printable_text(outer));
  const auto place =
      fields.find(fsdp.empty() ? "use_distributed_optimizer" : "data_parallel_sharding_strategy");
  if (place) place->fail(message);
  fail_input(message);
}

plan::Sharding stated_sharding(const FrameworkSettingsReader& fields) {
  std::string fsdp;
  std::string outer;
  if (fields.flag("use_megatron_fsdp", false)) {
    fsdp = fields.word("data_parallel_sharding_strategy", "no_shard");
    outer = fields.word("outer_dp_sharding_strategy", "no_shard");
  }
  if (fields.flag("use_torch_fsdp2", false)) {
    const bool again = fields.flag("torch_fsdp2_reshard_after_forward", true);
    return plan::sharding_named_by_word(again ? "GGG" : "NGG").value();
  }
  const bool instances = fields.integer("num_distributed_optimizer_instances", 1) > 1;
  bool optimizer = fields.flag("use_distributed_optimizer", false);
  if (fsdp == "no_shard") fsdp.clear();
  if (fsdp == "optim") {
    fsdp.clear();
    optimizer = true;
  }
  if (!fsdp.empty()) optimizer = true;
  for (const MegatronSharding& known : kMegatronShardings) {
    const bool same_outer = !instances || fsdp.empty() || known.outer == outer;
    if (known.fsdp == fsdp && known.optimizer == optimizer &&
        known.instances == (instances && optimizer) && same_outer) {
      return plan::sharding_named_by_word(known.states).value();
    }
  }
  fail_sharding(fields, fsdp, outer);
}

/// Returns the number of ranks in each optimizer instance, which share its states.
std::int64_t instance_ranks(DocumentNode instances, bool routed,
                            const plan::ParallelismDegrees& degrees) {
  const std::int64_t ranks = degrees.data * degrees.context;
  const std::int64_t count = instances.integer(1, kMaxIntegerSetting);
  if (ranks % count != 0 || (routed && degrees.expert_data_degree() % count != 0)) {
    instances.fail(fmt::format("must divide {} ranks of data x context", ranks));
  }
  return ranks / count;
}

void read_data_overlap(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
                       plan::OverlapFlags& overlap) {
  overlap.gradients = fields.flag("overlap_grad_reduce", false);
  overlap.parameters = fields.flag("overlap_param_gather", false);
  const bool needs = !megatron_setting_row("overlap_param_gather")
                          .needs.text_for_framework(known.framework.name)
                          .empty();
  if (overlap.parameters && !overlap.gradients && needs) {
    fields.find("overlap_param_gather")->fail("--overlap-param-gather needs --overlap-grad-reduce");
  }
  if (fields.flag("use_torch_fsdp2", false)) overlap.gradients = overlap.parameters = true;
}

void read_sharding(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
                   SettingRuleReadResult& reading) {
  plan::Plan& plan = reading.plan;
  plan.sharding = stated_sharding(fields);
  if (plan.sharding.uses(plan::StateShardingScope::kInner)) {
    plan.sharding.group = instance_ranks(*fields.find("num_distributed_optimizer_instances"),
                                         known.routed, plan.parallel);
  }
  read_data_overlap(fields, known, plan.overlap);
  const std::int64_t ranks = plan.parallel.data * plan.parallel.context;
  plan.gradient_bucket =
      fields.integer("bucket_size", std::max(kLeastBucket, kBucketOfRank * ranks));
  plan.parameter_bucket = plan.gradient_bucket;
  if (!fields.has("bucket_size")) {
    reading.notes.push_back(fmt::format(
        "Gradient buckets have {} elements, the default of Megatron.", plan.gradient_bucket));
  }
}

void write_sharding(const plan::PlannedJob& planned, std::string_view /*release*/,
                    DocumentTree& fields) {
  const plan::Plan& plan = planned.plan;
  const std::string word = plan::sharding_letters(plan.sharding);
  const auto* sharding = std::ranges::find(kMegatronShardings, word, &MegatronSharding::states);
  if (sharding == std::end(kMegatronShardings)) return;
  if (sharding->optimizer) fields.set("use_distributed_optimizer", true);
  if (!sharding->fsdp.empty()) {
    fields.set("use_megatron_fsdp", true);
    fields.set("data_parallel_sharding_strategy", sharding->fsdp);
    fields.set("ckpt_format", "fsdp_dtensor");
  }
  if (!sharding->outer.empty()) fields.set("outer_dp_sharding_strategy", sharding->outer);
  if (sharding->instances) {
    fields.set("num_distributed_optimizer_instances",
               plan.parallel.data * plan.parallel.context / plan.sharding.group);
  }
  if (plan.overlap.gradients) fields.set("overlap_grad_reduce", true);
  if (plan.overlap.parameters && plan.overlap.gradients && sharding->optimizer) {
    fields.set("overlap_param_gather", true);
  }
  fields.set("bucket_size", plan.gradient_bucket);
}

}  // namespace

constinit const SettingTranslationRule kSharding{.read = read_sharding, .write = write_sharding};

}  // namespace stepwright::framework_files
