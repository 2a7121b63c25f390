#include "stepwright/explore/sizes.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;
using Sizes = std::vector<std::int64_t>;

/// Returns the possible numbers of chunks per pipeline position; the layers limit them.
Sizes chunk_sizes(const plan::PlannedJob& planned) {
  const schedule::PipelineScheduleTraits& traits = schedule::traits_of(planned.plan.schedule.kind);
  const std::int64_t pipeline = std::max<std::int64_t>(1, planned.plan.parallel.pipeline);
  const std::int64_t most = std::min(traits.most_chunks, planned.job.model.layers / pipeline);
  Sizes sizes;
  for (std::int64_t size = traits.least_chunks; size <= most; ++size) sizes.push_back(size);
  return sizes;
}

/// Returns the possible sizes of sharding groups; only 1 if the degrees are not legal or no state
/// is sharded within groups.
Sizes groups(const plan::PlannedJob& planned, Sizes (*legal)(const plan::Plan& plan)) {
  const auto broken = plan::first_broken_rule(planned.job, planned.plan);
  const bool cannot = broken && *broken < plan::PlanLegalityRule::kShardingStrategy;
  if (cannot || !planned.plan.sharding.uses(plan::StateShardingScope::kInner)) return {1};
  return legal(planned.plan);
}

struct SizedChoice {
  std::string_view place;
  Sizes (*sizes)(const plan::PlannedJob& planned);
};
constexpr SizedChoice kSized[] = {
    {"parallel.tensor",
     [](const plan::PlannedJob& p) { return plan::legal_tensor_degrees(p.job); }},
    {"parallel.pipeline",
     [](const plan::PlannedJob& p) { return plan::legal_pipeline_degrees(p.job); }},
    {"parallel.context",
     [](const plan::PlannedJob& p) { return plan::legal_context_degrees(p.job); }},
    {"parallel.expert",
     [](const plan::PlannedJob& p) { return plan::legal_expert_degrees(p.job); }},
    {"parallel.expert_tensor",
     [](const plan::PlannedJob& p) { return plan::legal_expert_tensor_degrees(p.job); }},
    {"parallel.data", [](const plan::PlannedJob& p) { return plan::divisors(p.job.sequences); }},
    {"micro_batch",
     [](const plan::PlannedJob& p) {
       return plan::legal_micro_batch_sizes(p.job, p.plan.parallel.data);
     }},
    {"schedule.chunks", chunk_sizes},
    {"schedule.strands",
     [](const plan::PlannedJob& p) {
       return schedule::traits_of(p.plan.schedule.kind).pairs ? Sizes{1, 2} : Sizes{1};
     }},
    {"sharding.group",
     [](const plan::PlannedJob& p) { return groups(p, plan::legal_sharding_group_sizes); }},
    {"sharding.expert_group", [](const plan::PlannedJob& p) {
       return p.job.model.experts ? groups(p, plan::legal_expert_sharding_group_sizes) : Sizes{1};
     }}};

/// Returns the precisions for which the device has a peak rate.
Json precisions_json(const cluster::DeviceModel& device) {
  Json names = Json::array();
  for (const auto& [type, name] : plan::kPrecisionNames) {
    const auto rate = device.peak_flops.find(type);
    if (rate != device.peak_flops.end() && rate->second > 0) names.push_back(name);
  }
  return names;
}

}  // namespace

bool explorer_offers_value_list(std::string_view place) {
  return std::ranges::find(kSized, place, &SizedChoice::place) != std::end(kSized);
}

Json legal_field_values_json(const plan::PlannedJob& planned) {
  const cluster::Cluster& cluster = planned.job.cluster;
  Json json = {{"devices", cluster.devices()},
               {"devices_per_node", cluster.devices_per_node},
               {"nodes", cluster.nodes}};
  for (const auto& [place, sizes] : kSized) json[std::string(place)] = sizes(planned);
  json["job.precision"] = precisions_json(cluster.device);
  return json;
}

}  // namespace stepwright::explore
