#include "stepwright/step/plan_turns.h"

#include "stepwright/core/error.h"
#include "stepwright/plan/placement.h"
#include "stepwright/step/schedules/found.h"

namespace stepwright {
namespace {

constexpr double kNanosecond = 1e-9;

TurnSeconds seconds_of(const Durations& durations, const Placement& placement) {
  TurnSeconds seconds;
  seconds.hop_s = kNanosecond * static_cast<double>(durations.hop_ns);
  seconds.parts.assign(static_cast<std::size_t>(placement.positions()),
                       std::vector<PartSeconds>(static_cast<std::size_t>(placement.chunks())));
  for (std::size_t i = 0; i < durations.chunks.size(); ++i) {
    const auto [position, chunk] = placement.holder(static_cast<std::int64_t>(i));
    const ChunkDurations& each = durations.chunks[i];
    PartSeconds& part =
        seconds.parts[static_cast<std::size_t>(position)][static_cast<std::size_t>(chunk)];
    part.forward = kNanosecond * static_cast<double>(each.forward_ns);
    part.data = kNanosecond * static_cast<double>(each.data_ns);
    part.weight = kNanosecond * static_cast<double>(each.weight_ns);
    part.backward = part.data + part.weight;
  }
  return seconds;
}

}  // namespace

std::vector<Turns> plan_turns(const Plan& plan, std::int64_t micro_batches) {
  const Schedule& schedule = plan.schedule;
  if (!traits_of(schedule.kind).found) {
    return all_turns(schedule, plan.parallel.pipeline, micro_batches);
  }
  const Placement placement = placement_of(plan);
  if (std::ssize(schedule.durations.chunks) != placement.model_chunks()) {
    fail_input("the schedule auto has no order yet: `stepwright tune` and `predict` settle it");
  }
  return found_turns({.placement = placement,
                      .micro_batches = micro_batches,
                      .seconds = seconds_of(schedule.durations, placement),
                      .most_activations = static_cast<double>(schedule.durations.held) /
                                          static_cast<double>(schedule.chunks)});
}

}  // namespace stepwright
