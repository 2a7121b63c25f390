#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::simulate {

/// The range of predicted step times of one plan over the frameworks that run it unchanged, each
/// with its default kernels and with constants fitted to its published runs.
struct FrameworkTimeRange {
  std::string_view fastest, slowest;
  /// Closed-form step times in seconds over frameworks: shortest (`least_s`), median (`middle_s`)
  /// and longest (`most_s`).
  double least_s = 0, middle_s = 0, most_s = 0;
  int frameworks = 0;
};

/// Returns the range of step times over frameworks for a job that names no framework; nullopt if it
/// names one, or if fewer than two frameworks run the plan.
std::optional<FrameworkTimeRange> step_time_range_over_frameworks(const plan::PlannedJob& planned);

/// Returns a note for users on the assumptions behind a step time that is predicted without a
/// framework; empty if the job names one or has measured its own cluster.
std::string step_time_without_framework_note(const plan::Job& job,
                                             const std::optional<FrameworkTimeRange>& span,
                                             double step_s);

/// Returns the range of step times over frameworks in one line: "72.9 s to 73.2 s in the 3
/// frameworks that run this plan".
std::string step_time_range_over_frameworks_text(const FrameworkTimeRange& span);

}  // namespace stepwright::simulate
