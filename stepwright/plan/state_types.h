#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The data types of a trained parameter's states on a rank of a plan (`Kernels::masters`).
struct StateTypes {
  DType stored{};    ///< Type in which parameters are stored between their uses.
  DType master{};    ///< Type in which updates compute, and of wide moments.
  DType gradient{};  ///< Type of gradients between their reduction and the update.

  /// True if updates compute with master copies of the parameters.
  [[nodiscard]] constexpr bool copies() const { return stored != master; }
};

/// Returns the types if the optimizer has fp32 copies of narrower parameters.
constexpr StateTypes copied_states(DType storage, DType gradient) {
  const DType wide = storage == DType::kFp64 ? DType::kFp64 : DType::kFp32;
  return {.stored = storage, .master = wide, .gradient = gradient};
}

StateTypes state_types(const Job& job, const Plan& plan);

/// Number of copies of a policy's states that its devices hold all the time for other models of the
/// training method. `parameters`: a reference (unless it is the base model without its adapters)
/// and a critic; `updates` (gradients and optimizer states): a critic. `on_hosts`: references whose
/// parameters stay in host memory.
struct OtherModelCopies {
  std::int64_t parameters = 0;
  std::int64_t updates = 0;
  std::int64_t on_hosts = 0;
};
OtherModelCopies other_models(const Job& job);

/// Returns the types with the fewest bytes over all plans of a job.
StateTypes least_state_types(const Job& job);

}  // namespace stepwright::plan
