#pragma once

#include <cstdint>
#include <string>

#include "stepwright/learn/closed_loop.h"

namespace stepwright::answers {

/// The arguments of a search that learns from the user's own measured runs.
struct MeasuredRunsRequest {
  std::string name;  ///< Name of the job's file, for messages.
  std::string runs;  ///< Path of the table of measured runs.
  /// Path of a table of plans to choose from; empty: plans found by a search.
  std::string candidates;
  std::int64_t next = 1;  ///< Number of plans to suggest for the next measurement.
};

/// The most plans that can be suggested for measurement.
inline constexpr std::int64_t kMaxPlansToMeasureNext = 1000;

/// Reads the tables, calibrates with the measured runs, and ranks the plans. Fails with `kInput` if
/// a table cannot be read.
learn::MeasuredRunsVerdict learn_from_measured_runs(const plan::Job& job,
                                                    const MeasuredRunsRequest& request,
                                                    const tune::TuneOptions& options);

/// Returns the reason why no plan of the answer can be trained, naming the job's file; empty: one
/// can.
std::string failure_reason(const learn::MeasuredRunsVerdict& loop,
                           const MeasuredRunsRequest& request);

}  // namespace stepwright::answers
