#pragma once

#include <cstdint>

#include "stepwright/simulate/timeline/engine.h"
#include "tests/simulate/timeline/draft.h"

namespace stepwright::simulate {

/// The number of random programs for which a property is tested, and the options of their
/// contention.
inline constexpr int kRandomPrograms = 200;
inline constexpr cost::OverlapSlowdownFactors kSlowed{.compute_beside_inside = 1.3,
                                                      .compute_beside_network = 1.7};

struct RandomOptions {
  /// True: messages share links. False: no message shares a link with another.
  bool shared_links = true;
};

/// Returns a program of one to four stages with random templates on all streams, random
/// dependences, several micro-batches that pass through the stages, and a collective over all
/// stages at its end.
Draft random_program(std::uint32_t seed, const RandomOptions& options = {});

/// Returns when the last operator of each stage ends if nothing is slowed down by contention: by
/// recursion over what every operator waits for, as the headers of `step/` define it.
std::vector<double> ends_without_contention(const Draft& draft);

}  // namespace stepwright::simulate
