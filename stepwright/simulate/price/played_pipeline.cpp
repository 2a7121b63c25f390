#include "stepwright/simulate/price/played_pipeline.h"

#include <algorithm>

namespace stepwright {
namespace {

/// Turns remembered at most: some tens of megabytes.
constexpr std::size_t kMostTurns = std::size_t{1} << 20;

/// Micro-batches of a round: of a group where there are any.
std::int64_t round_of(const Plan& plan, std::int64_t micro_batches) {
  const std::int64_t pipeline = plan.parallel.pipeline;
  if (!traits_of(plan.schedule.kind).groups) return pipeline;
  return group_of(plan.schedule, pipeline, micro_batches);
}

/// The schedule with its group, which is that of all micro-batches when fewer are played.
Schedule with_group(const Plan& plan, std::int64_t micro_batches) {
  Schedule schedule = plan.schedule;
  if (traits_of(schedule.kind).groups) schedule.group = round_of(plan, micro_batches);
  return schedule;
}

/// An order that is found is another for fewer micro-batches.
std::int64_t played_of(const Plan& plan, std::int64_t micro_batches) {
  if (traits_of(plan.schedule.kind).found) return micro_batches;
  const std::int64_t round = round_of(plan, micro_batches);
  if (micro_batches <= kPlayedRounds * round) return micro_batches;
  return kPlayedRounds * round + micro_batches % round;
}

void add_what_waits(PlayedSchedule& schedule) {
  for (const Turns& turns : schedule.turns) {
    const std::vector<Part> parts = parts_of(turns);
    schedule.fullest.push_back(fullest_moments(parts, schedule.placement.chunks()));
    schedule.weights_at_end.push_back(stepwright::weights_at_end(parts));
  }
}

}  // namespace

const PlayedSchedule& PlayedPipeline::schedule(const Plan& plan, std::int64_t micro_batches) {
  PlayedSchedule& known =
      remembered(plan, with_group(plan, micro_batches), played_of(plan, micro_batches));
  if (known.fullest.empty()) add_what_waits(known);
  return known;
}

PlayedSchedule& PlayedPipeline::remembered(const Plan& plan, const Schedule& grouped,
                                           std::int64_t played) {
  const Key key{grouped, plan.parallel.pipeline, played};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  if (turns_ > kMostTurns) {
    known_.clear();
    turns_ = 0;
  }
  PlayedSchedule& schedule =
      known_[key] = {.placement = placement_of(plan),
                     .turns = all_turns(grouped, plan.parallel.pipeline, played),
                     .order = {},
                     .fullest = {},
                     .weights_at_end = {}};
  for (Turns& turns : schedule.turns) {
    if (plan.schedule.strands == 1) turns = without_pairs(turns);
    turns_ += turns.size();
  }
  schedule.order = TurnOrder(schedule.turns, schedule.placement);
  return schedule;
}

double PlayedPipeline::seconds(const Plan& plan, std::int64_t micro_batches,
                               const TurnSeconds& seconds) {
  const Schedule grouped = with_group(plan, micro_batches);
  const auto played_s = [&](std::int64_t count) {
    const PlayedSchedule& known = remembered(plan, grouped, count);
    return makespan_s(player_.play(known.order, known.turns, seconds));
  };
  const std::int64_t played = played_of(plan, micro_batches);
  const double all = played_s(played);
  if (played == micro_batches) return all;
  const std::int64_t round = round_of(plan, micro_batches);
  const double pace = (all - played_s(played - round)) / static_cast<double>(round);
  return all + pace * static_cast<double>(micro_batches - played);
}

double PlayedPipeline::every_s(const Plan& plan, std::int64_t micro_batches,
                               const TurnSeconds& seconds) {
  const PlayedSchedule& known = remembered(plan, with_group(plan, micro_batches), micro_batches);
  return makespan_s(player_.play(known.order, known.turns, seconds), known.turns, seconds);
}

}  // namespace stepwright
