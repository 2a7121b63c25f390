#include "stepwright/answers/own_runs.h"

#include <fmt/format.h>

#include <optional>

#include "stepwright/core/csv.h"
#include "stepwright/tune/free_kernels.h"

namespace stepwright::answers {

learn::ClosedLoop answer_own_runs(const plan::Job& given, const OwnRunsRequest& request,
                                  const tune::TuneOptions& options) {
  // A row that names no kernel is taken to have run the kernels with which the search's plans are
  // timed.
  const plan::Job job = tune::with_free_kernels(given);
  const learn::OwnRuns runs = learn::read_own_runs(load_csv(request.runs), &job);
  std::optional<learn::OwnRuns> candidates;
  if (!request.candidates.empty()) {
    candidates = learn::read_own_runs(load_csv(request.candidates), &job);
  }
  return learn::close_loop(job, runs, candidates ? &*candidates : nullptr,
                           {.next = static_cast<std::size_t>(request.next), .tune = options});
}

std::string fault_of(const learn::ClosedLoop& loop, const OwnRunsRequest& request) {
  return loop.best ? "" : fmt::format("{}: no candidate fits in memory", request.name);
}

}  // namespace stepwright::answers
