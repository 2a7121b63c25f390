#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// A framework, or a program built on one, whose files can be both written for a plan and read
/// back.
struct RoundTripFramework {
  std::string_view target;            ///< Name for `export --to`, such as "megatron".
  plan::TrainingFramework framework;  ///< The framework in its newest release.

  /// Returns the name for a job file's `framework:`, the variant's if there is one, else the
  /// framework's.
  [[nodiscard]] std::string_view framework_or_variant_name() const {
    return framework.variant.empty() ? framework.name : framework.variant;
  }
};

/// Returns all frameworks whose files can be both written and read, in the order of the program's
/// lists.
std::span<const RoundTripFramework> importable_and_exportable_frameworks();

/// Returns why a framework's written files would not run a plan unchanged; empty if they would:
/// reading them back gives the same plan and the same predicted step time.
std::string plan_not_run_unchanged_reason(const RoundTripFramework& starter,
                                          const plan::PlannedJob& planned);

/// Returns the names of all frameworks whose written files would run a plan unchanged.
std::vector<std::string> framework_names_running_plan(const plan::PlannedJob& planned);

}  // namespace stepwright::framework_files
