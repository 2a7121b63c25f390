#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright {

/// A job as a person might write it: any built-in model that some nodes of any built-in cluster may
/// hold, any length, batch, precision and kernels, some with a search that lists a few values. The
/// same for the same seed on every machine; not every one has a legal plan.
Job random_job(std::uint64_t seed);

}  // namespace stepwright
