#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// A small random job (model, cluster, batch, some dimensions listed) whose space can be visited
/// plan by plan; the same for the same seed on every machine. Every third has experts.
plan::Job small_random_job(std::uint64_t seed);

/// Eight devices in two nodes, a dense model of eight layers, sixteen sequences.
plan::Job small_tune_job();

}  // namespace stepwright::tune
