// Built instead of `rank_device_cuda.cpp` where PyTorch has no CUDA.
#include "stepwright/core/error.h"
#include "stepwright/runtime/rank/rank_device.h"

namespace stepwright::runtime {

bool has_cuda_device() { return false; }

std::unique_ptr<RankDevice> cuda_device(std::int64_t /*rank_on_this_machine*/) {
  fail_unsupported(
      "--device: cuda, but this build's PyTorch has no CUDA; install one that has and build again");
}

}  // namespace stepwright::runtime
