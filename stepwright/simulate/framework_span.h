#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::simulate {

/// Step times of one plan by the frameworks that run it as it is, each with the kernels that it has
/// by default and the conditions of training that its published runs show.
struct FrameworkSpan {
  std::string_view fastest, slowest;
  /// Priced step times: shortest, median, longest.
  double least_s = 0, middle_s = 0, most_s = 0;
  int frameworks = 0;
};

/// The span of a job that names no framework; nullopt where it names one, or fewer than two run the
/// plan.
std::optional<FrameworkSpan> framework_span(const plan::PlannedJob& planned);

/// The span in a sentence, beside the step that is predicted without a framework.
std::string span_note(const FrameworkSpan& span, double step_s);

}  // namespace stepwright::simulate
