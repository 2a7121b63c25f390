#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/core/named.h"
#include "stepwright/learn/calibration.h"
#include "stepwright/plan/job.h"

namespace stepwright::learn {

/// The outcome of a run: its column `outcome`.
enum class RunOutcome : std::uint8_t {
  kOpen,  ///< Not run yet: neither an outcome nor a measurement.
  kOk,
  kOutOfMemory,
  kFailed,  ///< Failed for another reason.
};
inline constexpr Named<RunOutcome> kRunOutcomeNames[] = {
    {RunOutcome::kOk, "ok"}, {RunOutcome::kOutOfMemory, "oom"}, {RunOutcome::kFailed, "failed"}};

/// A row of a person's own table.
struct OwnRun {
  std::size_t line = 0;
  std::string id;
  RunOutcome outcome = RunOutcome::kOpen;
  double seconds = 0;  ///< Seconds of a step; 0: not measured.
  double trust = 1;    ///< Trust in the row from 0 to 1: its column `trust`.
};

/// A table of runs, each with the plan that it says.
struct OwnRuns {
  std::string table;
  std::vector<OwnRun> runs;  ///< Runs in file order, as `plans`.
  std::vector<plan::PlannedJob> plans;
  std::vector<SkippedRun> skipped;
};

/// Reads the rows of a table of training runs that have a plan. With `of`, rows are of that job:
/// what they leave empty is its, and rows that contradict its model, devices, batch or length are
/// skipped.
OwnRuns read_own_runs(const CsvTable& table, const plan::Job* of);

/// The runs that went through and whose step was measured; the others are skipped.
OwnRuns only_measured(OwnRuns runs);

/// Fails with `kInput` where no row is a run, saying why of the first.
void check_any_run(const OwnRuns& runs, std::string_view fault);

/// The jobs of some plans.
std::vector<const plan::Job*> jobs_of(const std::vector<plan::PlannedJob>& plans);

}  // namespace stepwright::learn
