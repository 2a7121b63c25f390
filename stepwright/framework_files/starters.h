#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// A framework, or a variant of one, whose files can be written for a plan and read back.
struct FrameworkStarter {
  std::string_view target;    ///< Word of the target in `export --to`.
  plan::Framework framework;  ///< The framework in its newest release.

  /// Returns the word for `framework:` in a job: the variant, else the framework.
  [[nodiscard]] std::string_view name() const {
    return framework.variant.empty() ? framework.name : framework.variant;
  }
};

/// Returns all starters, in the order in which targets are listed.
std::span<const FrameworkStarter> framework_starters();

/// Returns why the files of a framework do not start a plan unchanged. Empty if they do: reading
/// the files back gives the same plan at the same predicted step time, with the framework's
/// kernels.
std::string not_started_reason(const FrameworkStarter& starter, const plan::PlannedJob& planned);

/// Returns the names of the frameworks whose files start a plan unchanged.
std::vector<std::string> started_by(const plan::PlannedJob& planned);

}  // namespace stepwright::framework_files
