#include "stepwright/simulate/timeline/alone.h"

namespace stepwright::simulate {

IsolatedStageSeconds IsolatedStageSimulator::simulate_template_in_isolation(
    const step::OperatorTemplate& piece, std::span<const cost::OperatorTime> times,
    const cost::OverlapSlowdownFactors& contention) {
  compiler_.clear();
  compiler_.add(piece, times);
  compiler_.append(item_, schedule::Direction::kForward);
  return play(contention);
}

IsolatedStageSeconds IsolatedStageSimulator::simulate_template_in_isolation(
    const step::StepProgram& program, const step::TemplateSequence& sequence, const Prices& prices,
    const cost::OverlapSlowdownFactors& contention) {
  compiler_.clear();
  for (std::size_t i = 0; i < prices.size(); ++i) {
    compiler_.add(program.templates[i], prices[i]);
  }
  compiler_.append(sequence.items, sequence.direction);
  return play(contention);
}

IsolatedStageSeconds IsolatedStageSimulator::play(const cost::OverlapSlowdownFactors& contention) {
  constexpr std::array<step::PipelineScheduleSlot, 1> kOnce{};
  constexpr std::array<std::int32_t, 1> kFirst{};
  const FlatPricedProgram& score = compiler_.score();
  StageSimulator player({.score = &score,
                         .track_of = kFirst,
                         .schedule = kOnce,
                         .arrivals = {},
                         .contention = contention,
                         .memo = nullptr});
  while (player.next_event_s() != kNever) {
    notices_.clear();
    player.simulate_events_at_next_time(notices_);
  }
  const StageTimeAccount& account = player.account();
  return {.duration_s = player.end_s(),
          .compute_end_s = player.compute_end_s(),
          .compute_s = account.compute_busy_s,
          .exposed_s = account.exposed_s,
          .link_busy_s = account.link_busy_s};
}

IsolatedStageSeconds simulate_template_alone(const step::OperatorTemplate& piece,
                                             std::span<const cost::OperatorTime> times,
                                             const cost::OverlapSlowdownFactors& contention) {
  return IsolatedStageSimulator().simulate_template_in_isolation(piece, times, contention);
}

}  // namespace stepwright::simulate
