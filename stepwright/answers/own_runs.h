#pragma once

#include <cstdint>
#include <string>

#include "stepwright/learn/closed_loop.h"

namespace stepwright::answers {

/// The options of a search that learns from a person's own runs.
struct OwnRunsRequest {
  std::string name;        ///< Name of the job's file, for messages.
  std::string runs;        ///< Path of the table of runs.
  std::string candidates;  ///< Path of the table of plans to choose among; empty: a search's.
  std::int64_t next = 1;   ///< Plans to name whose measurement is worth most.
};

/// The most plans that can be named.
inline constexpr std::int64_t kMostNext = 1000;

/// Reads the tables and says what the runs teach. Fails with `kInput` when a table cannot be read.
learn::ClosedLoop answer_own_runs(const plan::Job& job, const OwnRunsRequest& request,
                                  const tune::TuneOptions& options);

/// Why no plan of the answer can be trained, naming the job's file; empty: one can.
std::string fault_of(const learn::ClosedLoop& loop, const OwnRunsRequest& request);

}  // namespace stepwright::answers
