#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/launch_answer.h"
#include "stepwright/check/remedies.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/against.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/more_memory.h"
#include "stepwright/tune/sweep.h"
#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"
#include "stepwright/tune/two_strands.h"

namespace stepwright::answers {

/// The most plans that a user can request from `tune`.
inline constexpr std::int64_t kMaxRequestedPlans = 100'000;
inline constexpr int kMaxTuneThreads = 1024;

/// The arguments of the command `stepwright tune`, besides the job itself.
struct TuneRequest {
  /// Name of the job's file, with which error messages about the job begin.
  std::string name;
  /// Options of the search; the command `tune` replaces their `progress` callback by its own.
  tune::TuneOptions options;
  /// The user's own plan, to be compared with the best plan; nullopt: none.
  std::optional<plan::PlannedJob> own;
  /// Field to vary and its values: "FIELD=VALUE,VALUE,...", each tuned separately; empty: no sweep.
  std::string sweep;
  std::optional<tune::TrainingLengthAndPrice> run;
  /// True: also compute how much faster the job would be with more device memory.
  bool more_memory = false;
  /// Callback that reads the job for another framework, so that each framework is searched and the
  /// one that starts the fastest plan wins. Empty: search once, for the framework that the job
  /// names, if any.
  ReadJobForFramework job_for;
  /// Path of the best plan's file, used in the commands that the answer suggests; empty: none.
  std::string plan_file;
};

/// The progress of the command `tune`, which may run one search for each value of a sweep.
struct TuneAnswerProgress {
  tune::TuneProgress search;
  /// Index of the sweep value being tuned, from 1; 0: the job itself is being tuned.
  std::size_t value = 0;
  /// Number of values of the varied field, each of which is tuned; 0: no sweep.
  std::size_t values = 0;
};

/// Callback that receives progress between the rounds of each search; may be empty. An exception
/// that it throws cancels the command.
using TuneProgressCallback = std::function<void(const TuneAnswerProgress&)>;

/// The result of the command `stepwright tune`: the best plans of a job, and details about the
/// first.
struct TuneAnswer {
  tune::TuneResult result;
  simulate::PlanPrediction best;  ///< Prediction of the best plan, which is the first in `result`.
  std::optional<tune::UserPlanComparison> against;
  std::optional<tune::TuneSweep> sweep;
  std::optional<tune::TrainingLengthAndPrice> run;
  /// Speed-ups that more device memory would allow; empty: not requested.
  std::vector<tune::MoreMemoryGain> more_memory;
  std::optional<tune::TwoStrandsGain> strands;
  /// Changes that would let the best plan fit in memory; empty: it fits.
  std::vector<check::MemoryRemedyWithFlags> remedies;
  /// For each framework, the plan nearest to the best plan that its files can start.
  std::vector<tune::NearestFrameworkPlan> frameworks;
  /// How to start training with the best plan; nullopt: no framework's files can.
  std::optional<FrameworkLaunch> launch;
  /// For each framework, the reason why its files cannot start the best plan; empty if `launch` is
  /// set.
  std::vector<std::string> refusals;
  /// A faster plan that no framework's files can start; nullopt: none, or the job names a
  /// framework.
  std::optional<UnlaunchablePlan> unbound;
  /// Fastest plan with expert parallelism; nullopt: no experts, the best plan has it, or none fits.
  std::optional<tune::TunedPlan> with_experts;
  /// Path of the best plan's file, used in the commands that the answer suggests; empty: none.
  std::string plan_file;
  LaunchablePlans started;  ///< Cache of which frameworks' files can start which plans of the job.
  /// Reason why no plan of the job can be trained, naming the job's file; empty: some plan fits in
  /// memory, perhaps tightly.
  std::string fault;

  /// Returns the best plan together with the job that was searched.
  [[nodiscard]] plan::PlannedJob best_planned_job() const {
    return {result.job, result.plans.front().plan};
  }
  /// Returns the command that writes the launch files of the best plan; empty: no framework can
  /// start it.
  [[nodiscard]] std::string export_command() const {
    return launch ? launch->command(plan_file) : "";
  }
};

/// Searches the plans of a job, then computes the requested details about the best plan. Errors
/// start with the name of the job's file.
TuneAnswer answer_tune_command(plan::Job job, const TuneRequest& request,
                               const TuneProgressCallback& progress = {});

/// Returns the JSON document that `tune --json` prints (docs/formats.md).
nlohmann::ordered_json tune_answer_json(const TuneAnswer& answer);

/// Returns the HTML page that `tune --report` writes, with data for charts. `threads`: threads of
/// the additional search with one node fewer; 0: one per processor.
std::string tune_report(const TuneAnswer& answer, int threads);

}  // namespace stepwright::answers
