#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/simulate/timeline/score.h"

namespace stepwright::simulate {

/// The target of a send: a stage, and the number of its receive, counted over the stage's schedule.
struct Target {
  std::int32_t stage = 0;
  std::int32_t receive = 0;
};

/// The receive that every send of a program feeds.
struct Matching {
  std::vector<std::vector<Target>>
      targets;  ///< For each stage, the targets of its sends, counted over its schedule.
  std::vector<std::int32_t> receives;  ///< For each stage, the number of receives in its schedule.
};

/// Matches sends with receives: a forward send of chunk g of the model goes to chunk g + 1, a
/// backward one to g - 1, for the same micro-batch; the k-th send of such a key feeds the k-th
/// receive. Throws `Error{kRuntime}` for a send or receive that has no partner,
/// naming stage, slot and operator.
Matching match(const step::StepProgram& program, const FlatPricedProgram& score);

}  // namespace stepwright::simulate
