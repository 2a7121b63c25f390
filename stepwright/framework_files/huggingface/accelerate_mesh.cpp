#include "stepwright/framework_files/huggingface/accelerate_mesh.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"

namespace stepwright::framework_files {

AccelerateMesh accelerate_mesh(const plan::Plan& plan) {
  const plan::Parallel& degrees = plan.parallel;
  const bool inner = plan.sharding.uses(plan::Spread::kInner);
  const std::int64_t copies = inner ? degrees.data * degrees.context / plan.sharding.group : 1;
  const AccelerateMesh mesh{.copies = copies, .shares = degrees.data / copies};
  if (degrees.tensor * degrees.context > 1 && mesh.copies > 1 && mesh.shares == 1) {
    fail_unsupported(
        fmt::format("sharding.group {}: with tensor or context ranks Accelerate shares states over "
                    "data ranks, too",
                    plan.sharding.group));
  }
  return mesh;
}

}  // namespace stepwright::framework_files
