#include "stepwright/plan/choices/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "stepwright/core/format.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {
namespace {

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string tensor_words(const Plan& plan) {
  if (!plan.sequence_parallel) return fmt::format("tensor {}", plan.parallel.tensor);
  const bool keep = plan.tensor_input == GatheredInputPolicy::kKeep;
  return fmt::format("tensor {} (sequence parallel, inputs {})", plan.parallel.tensor,
                     keep ? "kept" : "re-gathered");
}

std::string pipeline_words(const Plan& plan) {
  std::string kind(name_of(schedule::kScheduleKindNames, plan.schedule.kind));
  if (plan.schedule.strands > 1) kind += fmt::format(", {} strands", plan.schedule.strands);
  if (plan.schedule.chunks > 1) kind += fmt::format(", {} chunks", plan.schedule.chunks);
  if (const auto placement = plan.schedule.placement) {
    kind +=
        fmt::format(", placement {}", name_of(schedule::kSearchableChunkPlacements, *placement));
  }
  if (plan.schedule.group > 0) kind += fmt::format(", groups of {}", plan.schedule.group);
  if (!plan.layers.empty()) kind += fmt::format("; layers {}", layers_per_chunk_text(plan.layers));
  return fmt::format("pipeline {} ({})", plan.parallel.pipeline, kind);
}

/// Describes the groups of a sharding: "in groups of 8", "of experts in groups of 4"; empty for
/// groups of one rank.
std::string group_words(const Sharding& sharding, bool experts) {
  if (experts && sharding.group == 1) {
    return fmt::format("of experts in groups of {}", sharding.expert_group);
  }
  const bool others = experts && sharding.expert_group == 1;
  return fmt::format("in groups of {}{}", sharding.group, others ? " but for experts" : "");
}

/// Describes the states of which each rank holds a shard: "parameters in groups of 8, optimizer
/// states over all".
std::string split_words(const Sharding& sharding, bool experts) {
  std::vector<std::string> words;
  const auto add = [&](const char* what, StateShardingScope spread) {
    if (spread == StateShardingScope::kGlobal) words.push_back(fmt::format("{} over all", what));
    if (spread != StateShardingScope::kInner) return;
    words.push_back(fmt::format("{} {}", what, group_words(sharding, experts)));
  };
  add("parameters", sharding.parameters);
  add("gradients", sharding.gradients);
  add("optimizer states", sharding.optimizer);
  const bool unlike = experts && sharding.uses(StateShardingScope::kInner) && sharding.group > 1 &&
                      sharding.expert_group > 1;
  if (unlike) words.push_back(fmt::format("of experts {}", sharding.expert_group));
  return joined(words, ", ");
}

std::string sharding_text(const Plan& plan, const Job& job) {
  const std::string name = sharding_name(plan.sharding);
  if (name == "ddp") return "no sharding";
  const std::string split =
      split_words(canonical_sharding(job, plan), job.model.experts.has_value());
  return fmt::format("sharding {} ({})", name, split.empty() ? "nothing split" : split);
}

std::vector<std::string> degree_words(const Plan& plan) {
  const ParallelismDegrees& degrees = plan.parallel;
  std::vector<std::string> words;
  if (degrees.tensor > 1) words.push_back(tensor_words(plan));
  if (degrees.context > 1) {
    words.push_back(fmt::format("context {} ({})", degrees.context,
                                name_of(kContextKindNames, plan.context_kind)));
  }
  if (degrees.expert > 1) words.push_back(fmt::format("expert {}", degrees.expert));
  if (degrees.expert_tensor > 1) {
    words.push_back(fmt::format("expert-tensor {}", degrees.expert_tensor));
  }
  const bool chunked = plan.schedule.chunks > 1 || plan.schedule.strands > 1;
  if (degrees.pipeline > 1 || chunked) words.push_back(pipeline_words(plan));
  words.push_back(fmt::format("data {}", degrees.data));
  return words;
}

/// Adds the words of the flags that the plan has on.
void add_flags(std::vector<std::string>& words, const Plan& plan) {
  each_flag([&](const BooleanChoiceWords& said, std::string_view, auto is_on) {
    if (is_on(plan)) words.emplace_back(said.words);
  });
}

}  // namespace

std::string job_summary_line(const Job& job) {
  const cluster::Cluster& cluster = job.cluster;
  return fmt::format("{} on {} x {} ({}, {}), {} of {} tokens, {}", job.model_name,
                     format_count(cluster.devices()), cluster.device.name, cluster.name,
                     count_with_noun(cluster.nodes, "node"),
                     count_with_noun(job.sequences, "sequence"), format_count(job.length),
                     name_of(kPrecisionNames, job.precision));
}

std::string plan_description(const Plan& plan, const Job& job) {
  std::vector<std::string> words = degree_words(plan);
  words.push_back(fmt::format("micro-batch {}", plan.micro_batch));
  words.push_back(sharding_text(plan, job));
  words.push_back(recompute_description(plan.recompute));
  std::vector<std::string> kinds;
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    if (row.exposed && row.exposed(plan)) kinds.emplace_back(row.words);
  }
  if (!kinds.empty()) words.push_back("no overlap of " + joined(kinds, " and "));
  if (plan.offload.optimizer > 0) {
    words.push_back(fmt::format("{:.3g}% of the optimizer on the host{}",
                                100 * plan.offload.optimizer,
                                plan.offload.masters ? "" : ", but for masters"));
  }
  add_flags(words, plan);
  if (!plan.offload.activations.empty()) {
    words.push_back(
        fmt::format("activations of {} on the host",
                    fmt::join(offloaded_activation_kind_names(plan.offload.activations), ", ")));
  }
  if (plan.rank_order != RankOrder{}) words.push_back("ranks " + rank_order_text(plan.rank_order));
  return joined(words, ", ");
}

}  // namespace stepwright::plan
