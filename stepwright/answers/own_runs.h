#pragma once

#include <cstdint>
#include <string>

#include "stepwright/learn/closed_loop.h"

namespace stepwright::answers {

/// The arguments of `tune --runs`: a search that learns from the user's own measured runs.
struct MeasuredRunsRequest {
  std::string name;  ///< Name of the job's file, used in messages.
  std::string runs;  ///< Path of the CSV table of measured runs.
  /// Path of a CSV table of plans to choose from; empty: plans found by a search.
  std::string candidates;
  std::int64_t next = 1;  ///< Number of plans to suggest for measuring next.
};

/// The most plans that a user can ask to have suggested for measuring next.
inline constexpr std::int64_t kMaxPlansToMeasureNext = 1000;

/// Calibrates predictions with the user's measured runs, ranks the candidate plans, and suggests
/// which plans to measure next. Fails with `kInput` if a table cannot be read.
learn::MeasuredRunsVerdict calibrate_and_rank_by_measured_runs(const plan::Job& job,
                                                               const MeasuredRunsRequest& request,
                                                               const tune::TuneOptions& options);

/// Returns the reason why no candidate plan can be trained, naming the job's file; empty: at least
/// one can.
std::string no_trainable_plan_reason(const learn::MeasuredRunsVerdict& loop,
                                     const MeasuredRunsRequest& request);

}  // namespace stepwright::answers
