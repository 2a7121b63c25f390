#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Data types of a trained parameter and its states on each rank of a plan; they depend on
/// `FrameworkKernels::masters`.
struct StateDataTypes {
  DType stored{};    ///< Type in which parameters are stored between uses.
  DType master{};    ///< Type in which the optimizer computes and keeps its wide moments.
  DType gradient{};  ///< Type of gradients between their reduction and the optimizer update.

  /// True if the optimizer has master copies of the parameters in another type.
  [[nodiscard]] constexpr bool has_master_copies() const { return stored != master; }
};

/// Returns the state types of an optimizer with master copies in fp32 (fp64 if parameters are
/// fp64).
constexpr StateDataTypes master_copy_state_types(DType storage, DType gradient) {
  const DType wide = storage == DType::kFp64 ? DType::kFp64 : DType::kFp32;
  return {.stored = storage, .master = wide, .gradient = gradient};
}

StateDataTypes state_types(const Job& job, const Plan& plan);

/// Numbers of other models that the policy's devices also hold. `parameters`: models whose
/// parameters stay on the devices (reference, unless it is the base model below adapters; critic);
/// `updates`: models with gradients and optimizer states (critic); `on_hosts`: references in host
/// memory.
struct OtherModelCounts {
  std::int64_t parameters = 0;
  std::int64_t updates = 0;
  std::int64_t on_hosts = 0;
};
OtherModelCounts other_models(const Job& job);

/// Returns, for each state, the type with the fewest bytes that any plan of the job can use.
StateDataTypes smallest_state_types(const Job& job);

}  // namespace stepwright::plan
