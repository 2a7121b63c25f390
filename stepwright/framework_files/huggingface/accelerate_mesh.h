#pragma once

#include "stepwright/plan/plan.h"

namespace stepwright::framework_files {

/// The axes of Accelerate's mesh over data ranks.
struct AccelerateMesh {
  std::int64_t copies = 1;  ///< `dp_replicate_size`.
  std::int64_t shares = 1;  ///< `dp_shard_size`.
};

/// The mesh of a plan. Fails with `kUnsupported` where tensor or context ranks go with copies
/// alone, which Accelerate refuses (src/accelerate/parallelism_config.py).
AccelerateMesh accelerate_mesh(const plan::Plan& plan);

}  // namespace stepwright::framework_files
