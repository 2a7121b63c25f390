#pragma once

#include <cstdint>
#include <ranges>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// A job as a person might write it: any built-in model that some nodes of any built-in cluster may
/// hold, any length, batch, precision and kernels, some with a search that lists a few values. The
/// same for the same seed on every machine; not every one has a legal plan.
plan::Job random_job(std::uint64_t seed);

/// The seeds of the jobs that a test tries: `usual` of them from 0, or those that the environment's
/// STEPWRIGHT_RANDOM_JOBS asks for, `COUNT` or `FIRST:COUNT`.
std::ranges::iota_view<std::uint64_t, std::uint64_t> random_seeds(std::uint64_t usual);

}  // namespace stepwright::tune
