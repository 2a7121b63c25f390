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

/// The stage of a plan whose devices need the most memory.
struct FullestStage {
  std::int64_t stage = 0;       ///< Pipeline position of the stage.
  std::int64_t first_rank = 0;  ///< Lowest rank of the stage; all its ranks need the same memory.
};

FullestStage fullest_stage(const simulate::Prediction& prediction);

/// Whether a job starts, judged by its files. kUnknown: the files contain a setting that is not
/// known, and its program may refuse it.
enum class JobStartVerdict : std::uint8_t { kNo, kUnknown, kYes };
inline constexpr Named<JobStartVerdict> kJobStartVerdictNames[] = {
    {JobStartVerdict::kNo, "NO"},
    {JobStartVerdict::kUnknown, "unknown"},
    {JobStartVerdict::kYes, "yes"}};

/// The result of checking a job before it is queued.
struct JobCheck {
  /// The imported files; `target` is empty if a plan file was given.
  framework_files::ImportedPlan imported;
  /// Prediction of the plan; nullopt: the plan is not legal.
  std::optional<simulate::Prediction> prediction;
  FullestStage fullest;
  /// Changes towards the best plan that the framework can run; nullopt: the plan is not legal, or
  /// the framework can run no legal plan of the job.
  std::optional<tune::UserPlanComparison> better;
  /// Changes that would let the job fit in memory; empty: it fits, or no change helps.
  std::vector<RemedyWithFlags> remedies;
  /// For each change of `better`, the lines to set in the imported files; empty: they are not
  /// known.
  std::vector<std::vector<std::string>> in_files;

  [[nodiscard]] JobStartVerdict starts() const;
  /// Returns the reason why `starts()` is not kYes; empty if it is.
  [[nodiscard]] std::string start_doubt_reason() const;
  /// True if the plan is legal, and there is a prediction.
  [[nodiscard]] bool legal() const { return !imported.refused; }
  [[nodiscard]] bool fits() const { return prediction && prediction->memory.fits(); }
  /// Returns the share of the step time that the changes of `better` save; 0: none.
  [[nodiscard]] double gain() const;
};

/// Predicts a plan, and searches a better plan for the same job and framework. Fails with `kInput`
/// if the job contains something that a search cannot handle.
JobCheck check_job(framework_files::ImportedPlan imported, const tune::TuneOptions& options = {});

/// Returns the reason why the job should not be queued, in one sentence: it does not start, does
/// not fit in memory (a tight plan is accepted), may not start, or a better plan would save at
/// least `most_gain` of a step. Empty: it should be queued. `most_gain` nullopt: any gain is
/// accepted.
std::string failure_reason(const JobCheck& check, std::optional<double> most_gain);

/// Returns the document of `check --json`; its keys are in docs/formats.md, "Check".
nlohmann::ordered_json check_json(const JobCheck& check, const std::string& fault);

}  // namespace stepwright::check
