#include "stepwright/simulate/price/played_pipeline.h"

#include "stepwright/schedule/kinds.h"

namespace stepwright::simulate {
namespace {

/// Returns the micro-batches of a round: those of a group in schedules with groups, else one for
/// each stage.
std::int64_t round_of(const plan::Plan& plan, std::int64_t micro_batches) {
  const std::int64_t pipeline = plan.parallel.pipeline;
  if (!schedule::traits_of(plan.schedule.kind).groups) return pipeline;
  return schedule::micro_batch_group_size_of_schedule(plan.schedule, pipeline, micro_batches);
}

/// Returns the schedule with its group, which has all micro-batches when fewer than a group are
/// simulated.
schedule::PipelineSchedule with_group(const plan::Plan& plan, std::int64_t micro_batches) {
  schedule::PipelineSchedule schedule = plan.schedule;
  if (schedule::traits_of(schedule.kind).groups) schedule.group = round_of(plan, micro_batches);
  return schedule;
}

/// Returns how many micro-batches are simulated. A found order must be simulated in full: for fewer
/// micro-batches another order would be found.
std::int64_t played_of(const plan::Plan& plan, std::int64_t micro_batches) {
  if (schedule::traits_of(plan.schedule.kind).found) return micro_batches;
  const std::int64_t round = round_of(plan, micro_batches);
  if (micro_batches <= kMaxSimulatedMicroBatchRounds * round) return micro_batches;
  return kMaxSimulatedMicroBatchRounds * round + micro_batches % round;
}

}  // namespace

std::shared_ptr<const FullestScheduleMoments>
PipelineSimulator::schedule_moments_of_peak_activations(const plan::Plan& plan,
                                                        std::int64_t micro_batches) {
  return schedules_->schedule_moments_of_peak_activations(
      {with_group(plan, micro_batches), plan.parallel.pipeline, played_of(plan, micro_batches)});
}

double PipelineSimulator::seconds_of_pipeline(const plan::Plan& plan, std::int64_t micro_batches,
                                              const schedule::PipelineScheduleSeconds& seconds) {
  const schedule::PipelineSchedule grouped = with_group(plan, micro_batches);
  const auto played_s = [&](std::int64_t count) {
    const auto known = schedules_->turns({grouped, plan.parallel.pipeline, count});
    return schedule::makespan_s(player_.turn_end_seconds(known->order, known->turns, seconds));
  };
  const std::int64_t played = played_of(plan, micro_batches);
  const double all = played_s(played);
  if (played == micro_batches) return all;
  const std::int64_t round = round_of(plan, micro_batches);
  const double pace = (all - played_s(played - round)) / static_cast<double>(round);
  return all + pace * static_cast<double>(micro_batches - played);
}

double PipelineSimulator::simulated_pipeline_s(const plan::Plan& plan, std::int64_t micro_batches,
                                               const schedule::PipelineScheduleSeconds& seconds) {
  const auto known =
      schedules_->turns({with_group(plan, micro_batches), plan.parallel.pipeline, micro_batches});
  return schedule::makespan_s(player_.turn_end_seconds(known->order, known->turns, seconds),
                              known->turns, seconds);
}

}  // namespace stepwright::simulate
