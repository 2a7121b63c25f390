#include "stepwright/step/plan_turns.h"

#include "stepwright/core/error.h"
#include "stepwright/plan/placement.h"
#include "stepwright/step/schedules/found.h"
#include "stepwright/step/schedules/order_bound.h"

namespace stepwright {
namespace {

constexpr double kNanosecond = 1e-9;

UnevenPipeline pipeline_of(const OrderBasis& basis, const Placement& placement,
                           std::int64_t micro_batches) {
  const auto positions = static_cast<std::size_t>(placement.positions());
  const auto chunks = static_cast<std::size_t>(placement.chunks());
  UnevenPipeline pipeline{.placement = placement,
                          .micro_batches = micro_batches,
                          .seconds = {.parts = {positions, std::vector<PartSeconds>(chunks)},
                                      .hop_s = kNanosecond * static_cast<double>(basis.hop_ns)},
                          .kept = {positions, std::vector<KeptSize>(chunks)},
                          .room = {basis.room_bytes.begin(), basis.room_bytes.end()}};
  for (std::size_t i = 0; i < basis.chunks.size(); ++i) {
    const Place place = placement.holder(static_cast<std::int64_t>(i));
    const auto position = static_cast<std::size_t>(place.position);
    const auto chunk = static_cast<std::size_t>(place.chunk);
    const ChunkLoad& load = basis.chunks[i];
    pipeline.seconds.parts[position][chunk] = {
        .forward = kNanosecond * static_cast<double>(load.forward_ns),
        .backward = kNanosecond * static_cast<double>(load.backward_ns),
        .data = kNanosecond * static_cast<double>(load.data_ns),
        .weight = kNanosecond * static_cast<double>(load.weight_ns)};
    pipeline.kept[position][chunk] = {.forward = static_cast<double>(load.forward_bytes),
                                      .weight = static_cast<double>(load.weight_bytes)};
  }
  return pipeline;
}

}  // namespace

std::vector<Turns> plan_turns(const Plan& plan, std::int64_t micro_batches) {
  const Schedule& schedule = plan.schedule;
  if (!traits_of(schedule.kind).found) {
    return all_turns(schedule, plan.parallel.pipeline, micro_batches);
  }
  if (!fits_plan(schedule.basis, plan)) {
    fail_input("the schedule auto has no order yet: `stepwright tune` and `predict` settle it");
  }
  return found_turns(pipeline_of(schedule.basis, placement_of(plan), micro_batches));
}

double order_s(const Plan& plan, std::span<const Turns> turns) {
  const UnevenPipeline pipeline = pipeline_of(plan.schedule.basis, placement_of(plan), 1);
  TurnPlayer player;
  return makespan_s(player.play(turns, pipeline.placement, pipeline.seconds));
}

double least_order_s(const Plan& plan, std::int64_t micro_batches) {
  return least_makespan_s(pipeline_of(plan.schedule.basis, placement_of(plan), micro_batches));
}

}  // namespace stepwright
