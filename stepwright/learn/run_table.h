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

/// The outcome of a run, from its column `outcome`.
enum class RunOutcome : std::uint8_t {
  kOpen,  ///< Not run yet: neither an outcome nor a measurement.
  kOk,
  kOutOfMemory,
  kFailed,  ///< The run failed for another reason.
};
inline constexpr Named<RunOutcome> kRunOutcomeNames[] = {
    {RunOutcome::kOk, "ok"}, {RunOutcome::kOutOfMemory, "oom"}, {RunOutcome::kFailed, "failed"}};

/// A row of a person's own table of runs.
struct MeasuredRun {
  std::size_t line = 0;
  std::string id;
  RunOutcome outcome = RunOutcome::kOpen;
  double seconds = 0;  ///< Seconds of a step; 0: not measured.
  double trust = 1;    ///< Trust in the row from 0 to 1, from its column `trust`.
};

/// A table of runs, each with the plan that its row describes.
struct MeasuredRuns {
  std::string table;
  std::vector<MeasuredRun> runs;  ///< Runs in file order, parallel to `plans`.
  std::vector<plan::PlannedJob> plans;
  std::vector<SkippedRun> skipped;
};

/// Reads the rows of a table of training runs that have a plan. With `of`, rows are taken as runs
/// of that job: empty cells take its values, and rows that contradict its model, devices, batch or
/// length are skipped. Null: rows of any job.
MeasuredRuns read_measured_runs(const CsvTable& table, const plan::Job* of);

/// Returns the runs that succeeded and have a measured step; the others are moved to `skipped`.
MeasuredRuns keep_measured_runs(MeasuredRuns runs);

/// Fails with `kInput` if no row is a run, with the reason of the first row.
void require_any_run(const MeasuredRuns& runs, std::string_view fault);

/// Returns the jobs of some plans.
std::vector<const plan::Job*> jobs_of(const std::vector<plan::PlannedJob>& plans);

}  // namespace stepwright::learn
