#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/imported_files.h"
#include "stepwright/answers/memory_reserve.h"
#include "stepwright/answers/run_comparison.h"
#include "stepwright/check/check.h"

namespace stepwright::answers {

/// The arguments of the command `check`: a job to check before it is queued, and the gain of a
/// better plan at which the check fails.
struct JobCheckRequest {
  /// Files that describe the job: a framework's configuration or launch script, or one plan file.
  ImportRequest job;
  /// Smallest gain of a better plan at which the check fails, as a share of the job's step time
  /// ('5%' or '0.05'); empty: no gain makes it fail.
  std::string gain;
  std::vector<std::string> logs;  ///< Paths of log files of an earlier run of the job; empty: none.
  MemoryHeadroom reserve;
};

/// The result of the command `check`: what the check found, and whether the job should be queued.
struct JobCheckAnswer {
  check::JobCheckResult check;
  /// Comparison of the plan with the logs of its run; nullopt: no logs were given, or the job does
  /// not start.
  std::optional<PredictionRunComparison> run;
  /// Reason why the checked job should not be queued; empty: it should be queued.
  std::string fault;
};

/// Reads a job's files, predicts its plan and searches for a better one, to decide whether the job
/// should be queued. Fails with `kInput` for unreadable files and `kUnsupported` for features that
/// cannot be modelled.
JobCheckAnswer check_job_before_queueing(const JobCheckRequest& request);

/// Returns the JSON document that `check --json` prints (docs/formats.md).
nlohmann::ordered_json check_command_answer_json(const JobCheckAnswer& answer);

}  // namespace stepwright::answers
