#pragma once

#include <cstdint>
#include <ranges>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// Returns a job as a user might write it: any built-in model that can fit some nodes of any
/// built-in cluster, any length, batch, precision and kernels; some with a search space that lists
/// a few values. The same seed gives the same job on every machine. Not every job has a legal plan.
plan::Job random_job(std::uint64_t seed);

/// Returns the seeds of the jobs that a test tries: 0 up to `usual`, or those in the environment
/// variable STEPWRIGHT_RANDOM_JOBS, `COUNT` or `FIRST:COUNT`.
std::ranges::iota_view<std::uint64_t, std::uint64_t> random_seeds(std::uint64_t usual);

}  // namespace stepwright::tune
