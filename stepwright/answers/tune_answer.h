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

/// The most plans, and the most threads, that a user can ask for.
inline constexpr std::int64_t kMaxRequestedPlans = 100'000;
inline constexpr int kMostThreads = 1024;

/// The arguments of the command `stepwright tune`.
struct TuneRequest {
  /// Name of the job's file, which begins errors about the job.
  std::string name;
  tune::TuneOptions options;  ///< Options of each search; `progress` is ignored.
  /// The user's own plan, to be compared with the best (`read_user_plan`); nullopt: none.
  std::optional<plan::PlannedJob> own;
  std::string sweep;  ///< Field and values to tune for: "FIELD=VALUE,VALUE,..."; empty: none.
  std::optional<tune::TrainingRun> run;
  bool more_memory = false;  ///< True: also compute the gain from more memory.
  /// Reads the job for a given framework, so that the answer is for the framework that starts the
  /// fastest plan. Empty: the job names its framework, or the answer may be a plan that no
  /// framework starts.
  JobFor job_for;
  /// File to which the best plan will be written, for commands in the answer; empty: none.
  std::string plan_file;
};

/// The progress of an answer of `tune`.
struct TuneAnswerProgress {
  tune::TuneProgress search;
  std::size_t value = 0;   ///< Index of the sweep's value being tuned, from 1; 0: the job itself.
  std::size_t values = 0;  ///< Number of values in the sweep; 0: no sweep.
};

/// Receives progress between the rounds of each search; an exception that it throws ends the
/// answer. May be empty.
using TellTuneAnswer = std::function<void(const TuneAnswerProgress&)>;

/// The result of the command `stepwright tune`.
struct TuneAnswer {
  tune::TuneResult result;
  simulate::Prediction best;  ///< Prediction of the first plan in `result`.
  std::optional<tune::UserPlanComparison> against;
  std::optional<tune::Sweep> sweep;
  std::optional<tune::TrainingRun> run;
  std::vector<tune::MemoryStep> more_memory;  ///< Gains from more memory; empty: not asked for.
  std::optional<tune::StrandsGain> strands;
  /// Changes that would let the first plan fit; empty: it fits.
  std::vector<check::RemedyWithFlags> remedies;
  /// For each framework, the plan that its files start in place of the first plan.
  std::vector<tune::FrameworkRun> frameworks;
  /// How to start the first plan; nullopt: no files start it.
  std::optional<FrameworkLaunch> launch;
  /// Reason of each framework for not starting it, as in `LaunchAnswer`.
  std::vector<std::string> refusals;
  /// Faster plan that no files start, as in `LaunchAnswer`.
  std::optional<UnlaunchablePlan> unbound;
  /// Fastest plan with expert parallelism (`best_expert_parallel_plan`).
  std::optional<tune::TunedPlan> with_experts;
  std::string plan_file;    ///< File for the best plan, as in `TuneRequest`; empty: none.
  LaunchablePlans started;  ///< Cache of the frameworks that start each plan, as in `LaunchAnswer`.
  /// Reason why no plan can be trained, naming the job's file; empty: a plan fits or is tight.
  std::string fault;

  /// Returns the best plan with the job that was searched.
  [[nodiscard]] plan::PlannedJob planned() const { return {result.job, result.plans.front().plan}; }
  /// Returns the command that writes the files to start the best plan; empty: no files start it.
  [[nodiscard]] std::string export_command() const {
    return launch ? launch->command(plan_file) : "";
  }
};

/// Searches the plans of a job, then computes the requested details about the best plan. Fails as
/// `tune`, with the name of the job's file before the message.
TuneAnswer answer_tune(plan::Job job, const TuneRequest& request,
                       const TellTuneAnswer& progress = {});

/// Returns the document of `tune --json` (docs/formats.md).
nlohmann::ordered_json tune_answer_json(const TuneAnswer& answer);

/// Returns the HTML page of `tune --report`: the answer and the data for its charts. `threads`:
/// threads of the additional search with one node fewer; 0: one per processor.
std::string tune_report(const TuneAnswer& answer, int threads);

}  // namespace stepwright::answers
