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

/// The most plans and threads that a person can ask for.
inline constexpr std::int64_t kMostPlans = 100'000;
inline constexpr int kMostThreads = 1024;

/// The options of a search.
struct TuneRequest {
  /// Name of the job's file: errors about the job begin with it.
  std::string name;
  tune::TuneOptions options;            ///< Options of each search; `progress` is not used.
  std::optional<plan::PlannedJob> own;  ///< A plan to compare with the best (`read_own_plan`).
  std::string sweep;  ///< Values to tune for: "FIELD=VALUE,VALUE,..."; empty: no sweep.
  std::optional<tune::TrainingRun> run;
  bool more_memory = false;  ///< True if the gain of more memory is wanted, too.
  /// Reads the job for the framework that starts the fastest plan, where the job names none; empty:
  /// the answer may be a plan that none starts.
  JobFor job_for;
  std::string plan_file;  ///< File to write the best plan to, for commands; empty: none.
};

/// How far an answer is.
struct TuneAnswerProgress {
  tune::TuneProgress search;
  std::size_t value = 0;   ///< Index of the sweep's value, from 1; 0: the job as it is.
  std::size_t values = 0;  ///< Values of the sweep; 0: no sweep.
};

/// Called between rounds of each search; what it throws ends the answer. May be empty.
using TellTuneAnswer = std::function<void(const TuneAnswerProgress&)>;

/// All that `tune` says of a job.
struct TuneAnswer {
  tune::TuneResult result;
  simulate::Prediction best;  ///< Prediction of the first plan of `result`.
  std::optional<tune::Against> against;
  std::optional<tune::Sweep> sweep;
  std::optional<tune::TrainingRun> run;
  std::vector<tune::MemoryStep> more_memory;  ///< Empty unless asked for.
  std::optional<tune::StrandsGain> strands;
  std::vector<check::SaidRemedy> remedies;  ///< Remedies of the first plan; empty where it fits.
  /// Frameworks, and what their files start for the first plan.
  std::vector<tune::FrameworkRun> frameworks;
  /// Launch of the first plan; nullopt: no files start it.
  std::optional<Launch> launch;
  std::vector<std::string> refusals;            ///< Refusals, as in `LaunchAnswer`.
  std::optional<UnboundPlan> unbound;           ///< Unbound plan, as in `LaunchAnswer`.
  std::optional<tune::TunedPlan> with_experts;  ///< Plan with experts, from `best_with_experts`.
  std::string plan_file;                        ///< Plan file, as in `TuneRequest`.
  StartedPlans started;                         ///< Started plans, as in `LaunchAnswer`.
  /// Why no plan can be trained, naming the job's file; empty: one fits or is tight.
  std::string fault;

  /// The best plan with the job as searched.
  [[nodiscard]] plan::PlannedJob planned() const { return {result.job, result.plans.front().plan}; }
  /// The command that writes the files that start the best plan; empty: there are none.
  [[nodiscard]] std::string export_command() const {
    return launch ? launch->command(plan_file) : "";
  }
};

/// Searches the job's space, then answers what is asked about the best plan. Fails as `tune`, with
/// the name of the job's file before the message.
TuneAnswer answer_tune(plan::Job job, const TuneRequest& request,
                       const TellTuneAnswer& progress = {});

/// The document of `tune --json` (docs/formats.md).
nlohmann::ordered_json tune_answer_json(const TuneAnswer& answer);

/// The page of `tune --report`: the answer with what its pictures need. `threads` is of the search
/// that one node fewer is given; 0: one per processor.
std::string tune_report(const TuneAnswer& answer, int threads);

}  // namespace stepwright::answers
