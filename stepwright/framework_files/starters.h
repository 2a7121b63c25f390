#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// A framework, or a variant of one, for which plans are written in files that are read back.
struct Starter {
  std::string_view target;    ///< Word of `export --to`.
  plan::Framework framework;  ///< In its newest release.

  /// Word of `framework:` of a job: the variant, else the framework.
  [[nodiscard]] std::string_view name() const {
    return framework.variant.empty() ? framework.name : framework.variant;
  }
};

/// All of them, in the order in which targets are listed.
std::span<const Starter> starters();

/// Why the files of a framework do not start a plan as it is; empty: they do, and reading them back
/// gives the same plan at the same price, with the framework's kernels.
std::string why_not_started(const Starter& starter, const plan::PlannedJob& planned);

/// Names of the frameworks whose files start a plan as it is.
std::vector<std::string> started_by(const plan::PlannedJob& planned);

}  // namespace stepwright::framework_files
