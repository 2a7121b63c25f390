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

/// A job to check before it is queued, and what counts as a fault.
struct CheckRequest {
  ImportRequest job;              ///< The files of a framework, or a plan alone.
  std::string gain;               ///< "5%", "0.05": so large a gain is a fault; empty: none is.
  std::vector<std::string> logs;  ///< Paths of the logs of a run of it.
  MemoryReserve reserve;
};

/// Whether a job should be queued.
struct CheckAnswer {
  check::JobCheck check;
  std::optional<RunComparison> run;  ///< nullopt without logs, and of a job that does not start.
  std::string fault;                 ///< Reason why the job does not start; empty: it should start.
};

/// Checks a job. Fails with `kInput` and `kUnsupported` as `import_sources`.
CheckAnswer answer_check(const CheckRequest& request);

/// The document of `check --json` (docs/formats.md).
nlohmann::ordered_json check_answer_json(const CheckAnswer& answer);

}  // namespace stepwright::answers
