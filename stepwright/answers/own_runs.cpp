#include "stepwright/answers/own_runs.h"

#include <fmt/format.h>

#include <optional>

#include "stepwright/core/csv.h"
#include "stepwright/tune/free_kernels.h"

namespace stepwright::answers {

learn::MeasuredRunsVerdict calibrate_and_rank_by_measured_runs(const plan::Job& given,
                                                               const MeasuredRunsRequest& request,
                                                               const tune::TuneOptions& options) {
  // A row that names no kernel is taken to have run the kernels with which the search's plans are
  // timed.
  const plan::Job job = tune::with_fastest_attention_kernel(given);
  const learn::MeasuredRunTable runs = learn::read_measured_runs(load_csv(request.runs), &job);
  std::optional<learn::MeasuredRunTable> candidates;
  if (!request.candidates.empty()) {
    candidates = learn::read_measured_runs(load_csv(request.candidates), &job);
  }
  return learn::suggest_plans_to_measure(
      job, runs, candidates ? &*candidates : nullptr,
      {.next = static_cast<std::size_t>(request.next), .tune = options});
}

std::string no_trainable_plan_reason(const learn::MeasuredRunsVerdict& loop,
                                     const MeasuredRunsRequest& request) {
  return loop.best ? "" : fmt::format("{}: no candidate fits in memory", request.name);
}

}  // namespace stepwright::answers
