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

/// The assumptions behind a step that is predicted without a framework, in a note; empty where the
/// job names one, or measured its own cluster.
std::string unnamed_note(const plan::Job& job, const std::optional<FrameworkSpan>& span,
                         double step_s);

/// The span in a line: "72.9 s to 73.2 s in the 3 frameworks that run this plan".
std::string span_words(const FrameworkSpan& span);

}  // namespace stepwright::simulate
