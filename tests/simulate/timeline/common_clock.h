#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "stepwright/core/named.h"
#include "tests/simulate/timeline/draft.h"

namespace stepwright::simulate {

/// Identifies an operator in a program that uses each template once per schedule entry.
struct OperatorKey {
  std::int32_t stage = 0;
  std::int32_t which = 0;
  std::int32_t operation = 0;
  std::int32_t micro_batch = 0;
  auto operator<=>(const OperatorKey&) const = default;
};

/// Start and end of an operator, in seconds.
struct Span {
  double start_s = 0;
  double end_s = 0;
};

/// Simulates a random program on one clock for all stages, as the header of `simulation.h` defines
/// it: operator by operator, without queues, merged computations or stages that run ahead. Receives
/// are left out of the result.
std::map<OperatorKey, Span> play_on_common_clock(const Draft& draft,
                                                 const cost::OverlapSlowdownFactors& contention);

}  // namespace stepwright::simulate
