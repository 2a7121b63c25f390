#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/check/remedies.h"
#include "stepwright/core/named.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/against.h"

namespace stepwright::check {

/// The pipeline stage whose devices need the most memory, and its first rank.
struct PeakMemoryStage {
  std::int64_t stage = 0;  ///< Index of the pipeline stage, from 0.
  /// Lowest rank of the stage; all ranks of a stage need the same memory.
  std::int64_t first_rank = 0;
};

PeakMemoryStage fullest_memory_stage(const simulate::PlanPrediction& prediction);

/// Whether a job would start, judged by its files. kUnknown: the files contain a setting that
/// Stepwright does not know, which the job's program may refuse.
enum class JobStartVerdict : std::uint8_t { kNo, kUnknown, kYes };
inline constexpr Named<JobStartVerdict> kJobStartVerdictNames[] = {
    {JobStartVerdict::kNo, "NO"},
    {JobStartVerdict::kUnknown, "unknown"},
    {JobStartVerdict::kYes, "yes"}};

/// The result of checking a job before it is queued: whether it starts and fits, and what would be
/// better.
struct JobCheckResult {
  /// The plan that was read from the job's files, and what happened to each setting; its `target`
  /// (name of the files' format) is empty if the file was a plan.
  framework_files::ImportedPlan imported;
  /// Predicted step time and memory of the job's plan; nullopt: the plan is not legal.
  std::optional<simulate::PlanPrediction> prediction;
  PeakMemoryStage fullest;
  /// Comparison with the best plan that the job's framework can run, change by change; nullopt: the
  /// job's plan is not legal, or the framework can run no legal plan of the job.
  std::optional<tune::UserPlanComparison> better;
  /// Changes that would let the job fit in memory; empty: it fits, or no change helps.
  std::vector<MemoryRemedyWithFlags> remedies;
  /// Lines to set in the job's files, one list for each change in `better`, that make this change;
  /// an empty list: unknown.
  std::vector<std::vector<std::string>> in_files;

  [[nodiscard]] JobStartVerdict starts() const;
  /// Returns the reason why the job would not or might not start; empty: it would start.
  [[nodiscard]] std::string reason_job_may_not_start() const;
  /// True if the job's plan is legal and was therefore predicted.
  [[nodiscard]] bool is_plan_legal() const { return !imported.refused; }
  [[nodiscard]] bool fits() const { return prediction && prediction->memory.fits(); }
  /// Returns the share of the job's step time that switching to the better plan would save; 0:
  /// none.
  [[nodiscard]] double step_time_saving_share() const;
};

/// Predicts a job's plan and searches for a better plan of the same job and framework. Fails with
/// `kInput` if the job contains something that a search cannot handle.
JobCheckResult check_job(framework_files::ImportedPlan imported,
                         const tune::TuneOptions& options = {});

/// Returns the reason why the job should not be queued, in one sentence: it does not (or may not)
/// start, it does not fit in memory, or a better plan would save at least the share `most_gain` of
/// a step (nullopt: any gain is accepted). Empty: it should be queued.
std::string reason_not_to_submit_job(const JobCheckResult& check, std::optional<double> most_gain);

/// Returns the JSON document of `check --json`; docs/formats.md, "Check", lists its keys. `fault`:
/// reason why the job should not be queued; empty: it should.
nlohmann::ordered_json job_check_json(const JobCheckResult& check, const std::string& fault);

}  // namespace stepwright::check
