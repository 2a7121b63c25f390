#pragma once

#include <cstdint>

#include "stepwright/simulate/timeline/engine.h"
#include "tests/simulate/timeline/draft.h"

namespace stepwright::simulate {

/// How many random programs a property is held against, and what slows them down.
inline constexpr int kRandomPrograms = 200;
inline constexpr cost::Contention kSlowed{.compute_beside_inside = 1.3,
                                          .compute_beside_network = 1.7};

struct RandomOptions {
  bool shared_links = true;  ///< Otherwise no message meets another.
};

/// A program of one to four stages with random templates on all streams, random dependences,
/// several micro-batches that pass through the stages, and a collective over all stages at its end.
Draft random_program(std::uint32_t seed, const RandomOptions& options = {});

/// When the last operator of each stage ends if nothing slows anything down: every operator by
/// recursion over what it waits for, as the headers of `step/` say it.
std::vector<double> ends_without_contention(const Draft& draft);

}  // namespace stepwright::simulate
