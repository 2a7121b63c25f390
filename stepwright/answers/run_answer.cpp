#include "stepwright/answers/run_answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/answers/made_by.h"
#include "stepwright/answers/run_settings.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"

namespace stepwright::answers {
namespace {

constexpr double kMostPlayedCheckpoints = 1e9;

/// Calls `work` on a file; errors are prefixed with the file's name.
template <class Work>
auto on_file(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", name, error.what()), {.file = name});
  }
}

void check_played(const whole_run::TrainingRunParameters& process, std::int64_t played) {
  const double checkpoints =
      static_cast<double>(process.steps) / static_cast<double>(process.checkpoint_every);
  if (checkpoints * static_cast<double>(played) <= kMostPlayedCheckpoints) return;
  fail_input(
      fmt::format("--simulate {}: a run has {:.3g} checkpoints, but at most {:.0g} can be "
                  "simulated in all; give fewer runs or tokens",
                  played, checkpoints, kMostPlayedCheckpoints));
}

void play(TrainingRunAnswer& answer, const TrainingRunRequest& request) {
  if (!request.played) return;
  const whole_run::TrainingRunParameters& process = answer.best.run.process;
  check_played(process, *request.played);
  answer.played = whole_run::simulate_whole_runs(process, *request.played, request.seed);
}

/// Writes the requested settings into a job.
void settle(plan::Job& job, const TrainingRunRequest& request) {
  request.reserve.replace_memory_margin_of_job(job);
  job.run = read_run_settings(request.settings, job.run);
}

}  // namespace

TrainingRunAnswer predict_whole_run(plan::PlannedJob planned, const TrainingRunRequest& request) {
  settle(planned.job, request);
  TrainingRunAnswer answer{.best = {.prediction = simulate::predict_plan(planned)}};
  answer.best.run = on_file(request.name, [&] {
    return whole_run::predict_training_run(answer.best.prediction, planned.job.run);
  });
  play(answer, request);
  return answer;
}

TrainingRunAnswer answer_job_run(plan::Job job, const TrainingRunRequest& request) {
  settle(job, request);
  whole_run::whole_run_tokens(job.run);
  whole_run::PlanRunComparison found = on_file(request.name, [&] {
    return whole_run::compare_plans_by_run(
        job, [&](const plan::Job& part) { return tune::tune(part, request.search); });
  });
  TrainingRunAnswer answer{.best = found.candidates.front()};
  answer.comparison = std::move(found);
  play(answer, request);
  return answer;
}

nlohmann::ordered_json whole_run_answer_json(const TrainingRunAnswer& answer) {
  nlohmann::ordered_json json = whole_run::whole_run_json(answer.best.run);
  const memory::MemoryReport& memory = answer.best.prediction.memory;
  json["fits"] = memory.fits();
  json["verdict"] = name_of(memory::kFitVerdictNames, memory.memory_fit_verdict_of_job());
  json["p_fits"] = memory.p_fits;
  json["plan"] = plan::plan_json(answer.best.prediction.planned);
  json["made_by"] = producer_version_json();
  if (answer.played) json["simulated"] = whole_run::simulated_runs_json(*answer.played);
  if (answer.comparison) {
    json["candidates"] = whole_run::run_candidates_json(*answer.comparison);
    json["endless"] = whole_run::never_ending_runs_json(*answer.comparison);
  }
  return json;
}

}  // namespace stepwright::answers
