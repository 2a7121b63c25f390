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

/// The outcome of a run, from the column `outcome` of a user's table.
enum class MeasuredRunOutcome : std::uint8_t {
  kOpen,  ///< The run has not been done yet: the row has neither an outcome nor a measurement.
  kOk,
  kOutOfMemory,
  kFailed,  ///< The run failed for a reason other than memory.
};
inline constexpr Named<MeasuredRunOutcome> kRunOutcomeNames[] = {
    {MeasuredRunOutcome::kOk, "ok"},
    {MeasuredRunOutcome::kOutOfMemory, "oom"},
    {MeasuredRunOutcome::kFailed, "failed"}};

/// One row of a user's table of runs: the outcome and the step time of a run.
struct MeasuredRun {
  std::size_t line = 0;
  std::string id;
  MeasuredRunOutcome outcome = MeasuredRunOutcome::kOpen;
  double seconds = 0;  ///< Measured step time in seconds; 0: not measured.
  double trust = 1;    ///< Weight of the row from 0 to 1, from the column `trust`.
};

/// A user's table of runs, with the job and plan that each row describes.
struct MeasuredRunTable {
  std::string table;
  /// Rows of the table in file order; `plans[i]` is the job and plan of `runs[i]`.
  std::vector<MeasuredRun> runs;
  std::vector<plan::PlannedJob> plans;
  std::vector<SkippedRunRow> skipped;
};

/// Reads a table of training runs; rows that describe no valid plan are skipped. `of`: job whose
/// values fill empty cells; rows that contradict its model, devices, batch or length are skipped;
/// null: rows may be of any job.
MeasuredRunTable read_measured_runs(const CsvTable& table, const plan::Job* of);

/// Returns the runs that succeeded and have a step time; moves all others to `skipped`.
MeasuredRunTable keep_runs_with_step_time(MeasuredRunTable runs);

/// Fails with `kInput` and the message `fault` if the table has no usable run, listing the reasons
/// of the skipped rows.
void require_usable_measured_run(const MeasuredRunTable& runs, std::string_view fault);

/// Returns pointers to the jobs of plans, in the order of the plans.
std::vector<const plan::Job*> jobs_of_plans(const std::vector<plan::PlannedJob>& plans);

}  // namespace stepwright::learn
