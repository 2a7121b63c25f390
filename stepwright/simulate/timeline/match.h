#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/simulate/timeline/score.h"

namespace stepwright::simulate {

/// The receive that gets the message of a send: its pipeline stage, and its index among all
/// receives in the stage's schedule.
struct MatchingReceive {
  std::int32_t stage = 0;
  std::int32_t receive = 0;
};

/// Which receive gets the message of each send of a program.
struct SendReceiveMatching {
  /// For each stage, the receives that its sends feed, in the order of its schedule.
  std::vector<std::vector<MatchingReceive>> targets;
  std::vector<std::int32_t> receives;  ///< For each stage, the number of receives in its schedule.
};

/// Matches the sends of a step program with its receives: a forward send of chunk g of the model
/// goes to chunk g + 1, a backward one to g - 1, for the same micro-batch; of several such messages
/// the k-th send feeds the k-th receive. Throws `Error{kRuntime}`, naming stage, slot and operator,
/// for a send or receive that has no partner.
SendReceiveMatching match_sends_to_receives(const step::StepProgram& program,
                                            const FlatPricedProgram& score);

}  // namespace stepwright::simulate
