#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// Returns a small random job (model, cluster, batch, some dimensions listed) whose space is small
/// enough to visit every plan. The same seed gives the same job on every machine. Every third job
/// has experts.
plan::Job small_random_job(std::uint64_t seed);

/// Returns a job with eight devices in two nodes, a dense model of eight layers, and sixteen
/// sequences.
plan::Job small_tune_job();

}  // namespace stepwright::tune
