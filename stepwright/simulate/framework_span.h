#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::simulate {

/// The range of step times of one plan over the frameworks that run it unchanged, each with its
/// default kernels and the conditions of training that its published runs show.
struct FrameworkSpan {
  std::string_view fastest, slowest;
  /// Priced step times in seconds: shortest (`least_s`), median (`middle_s`) and longest
  /// (`most_s`).
  double least_s = 0, middle_s = 0, most_s = 0;
  int frameworks = 0;
};

/// Returns the span of a job that names no framework; nullopt where the job names one, or fewer
/// than two run the plan.
std::optional<FrameworkSpan> framework_span(const plan::PlannedJob& planned);

/// Returns a note on the assumptions behind a step that is predicted without a framework; empty
/// where the job names one, or has measured its own cluster.
std::string unnamed_framework_note(const plan::Job& job, const std::optional<FrameworkSpan>& span,
                                   double step_s);

/// Returns the span in one line: "72.9 s to 73.2 s in the 3 frameworks that run this plan".
std::string framework_span_text(const FrameworkSpan& span);

}  // namespace stepwright::simulate
