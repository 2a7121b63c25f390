#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The types of the states of trained parameters on a rank of a plan (`Kernels::masters`).
struct StateTypes {
  DType stored{};    ///< Parameters, between their uses.
  DType master{};    ///< Type that updates compute with, and of wide moments.
  DType gradient{};  ///< Gradients, between their reduction and the update.

  /// Whether updates compute with copies of the parameters.
  [[nodiscard]] constexpr bool copies() const { return stored != master; }
};

/// Types where the optimizer has fp32 copies of parameters, if these are narrower.
constexpr StateTypes copied_states(DType storage, DType gradient) {
  const DType wide = storage == DType::kFp64 ? DType::kFp64 : DType::kFp32;
  return {.stored = storage, .master = wide, .gradient = gradient};
}

StateTypes state_types(const Job& job, const Plan& plan);

/// How many copies of a policy's states its devices hold all the time for other models of the
/// method: of the parameters those of a reference, unless it is the base without its adapters, and
/// of a critic; of gradients and optimizer states a critic's. A reference that waits on the hosts
/// has its parameters there.
struct OtherModels {
  std::int64_t parameters = 0;
  std::int64_t updates = 0;
  std::int64_t on_hosts = 0;
};
OtherModels other_models(const Job& job);

/// Types that take the fewest bytes, over all plans of a job.
StateTypes least_state_types(const Job& job);

}  // namespace stepwright::plan
