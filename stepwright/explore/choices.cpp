#include "stepwright/explore/choices.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/legality.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

Json schedules() {
  Json list = Json::array();
  for (const auto& [kind, name, definition] : kScheduleRows) {
    if (!definition->traits.runs) continue;
    list.push_back(
        {{"name", name}, {"text", definition->text}, {"chunks", definition->traits.least_chunks}});
  }
  return list;
}

Json shardings() {
  Json list = Json::array();
  for (const Sharding& sharding : paro_strategies()) {
    const std::string states = sharding_word(sharding);
    const auto* alias = std::ranges::find(kShardingAliases, states, &ShardingAlias::states);
    const bool known = alias != std::end(kShardingAliases);
    list.push_back({{"name", states}, {"text", known ? alias->name : ""}});
  }
  return list;
}

/// Chunks of a position, as many as the layers allow.
std::vector<std::int64_t> chunk_sizes(const PlannedJob& planned) {
  const ScheduleTraits& traits = traits_of(planned.plan.schedule.kind);
  const std::int64_t most =
      std::min(traits.most_chunks, planned.job.model.layers /
                                       std::max<std::int64_t>(1, planned.plan.parallel.pipeline));
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = traits.least_chunks; size <= most; ++size) sizes.push_back(size);
  return sizes;
}

}  // namespace

Json choices_json() {
  Json precisions = Json::array();
  for (const Named<DType>& precision : kPrecisionNames) precisions.push_back(precision.name);
  return {{"models", built_in_models()},
          {"clusters", built_in_clusters()},
          {"precisions", std::move(precisions)},
          {"schedules", schedules()},
          {"shardings", shardings()},
          {"recompute", {"none", "selective", "full"}}};
}

Json sizes_json(const PlannedJob& planned) {
  const auto& [job, plan] = planned;
  return {{"tensor", legal_tensor_sizes(job)},
          {"pipeline", legal_pipeline_sizes(job)},
          {"context", legal_context_sizes(job)},
          {"expert", legal_expert_sizes(job)},
          {"data", divisors(job.sequences)},
          {"micro_batch", legal_micro_batches(job, plan.parallel.data)},
          {"chunks", chunk_sizes(planned)},
          {"devices", job.cluster.devices()},
          {"devices_per_node", job.cluster.devices_per_node},
          {"nodes", job.cluster.nodes}};
}

}  // namespace stepwright
