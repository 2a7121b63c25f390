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

/// The arguments of `check`: a job to check before it is queued, and when a better plan counts as a
/// fault.
struct CheckRequest {
  ImportRequest job;  ///< Files of the job: those of a framework, or a plan alone.
  /// The check fails if a better plan gains at least this share ('5%' or '0.05'); empty: it never
  /// fails on a gain.
  std::string gain;
  std::vector<std::string> logs;  ///< Paths of logs of a run of the job; empty: none.
  MemoryHeadroom reserve;
};

/// The result of `check`: whether a job should be queued, with the findings.
struct CheckAnswer {
  check::JobCheck check;
  /// Comparison with the logs; nullopt: no logs, or the job does not start.
  std::optional<RunComparison> run;
  std::string fault;  ///< Reason why the job should not be queued; empty: it should.
};

/// Checks a job. Fails with `kInput` and `kUnsupported` as `import_sources`.
CheckAnswer check_job_before_queueing(const CheckRequest& request);

/// Returns the document of `check --json` (docs/formats.md).
nlohmann::ordered_json check_answer_json(const CheckAnswer& answer);

}  // namespace stepwright::answers
