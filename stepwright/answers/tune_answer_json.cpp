#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/answers/made_by.h"
#include "stepwright/answers/plan_names.h"
#include "stepwright/answers/report_text.h"
#include "stepwright/answers/tune_answer.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/plan/files.h"
#include "stepwright/report/prediction_pictures.h"
#include "stepwright/tune/tune_json.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::answers {
namespace {

using Json = nlohmann::ordered_json;

Json unbound_json(const TuneAnswer& answer) {
  if (!answer.unbound) return nullptr;
  const UnlaunchablePlan& unbound = *answer.unbound;
  const double first_s = answer.result.plans.front().step_time_s;
  return {{"plan", plan::plan_json({unbound.job, unbound.tuned.plan})},
          {"step_time_s", unbound.tuned.step_time_s},
          {"gain_s", first_s - unbound.tuned.step_time_s},
          {"gain", 1 - unbound.tuned.step_time_s / first_s},
          {"peak_memory_bytes", static_cast<std::int64_t>(unbound.tuned.peak_memory_bytes)},
          {"why", unbound.why}};
}

}  // namespace

Json tune_answer_json(const TuneAnswer& answer) {
  const tune::TuneResult& result = answer.result;
  LaunchablePlans started = answer.started;
  const tune::FrameworksRunningPlan started_by = [&](const plan::Plan& plan) {
    return started.frameworks_running_exported_plan(plan);
  };
  Json json = tune::tune_json(result, answer.best, answer.frameworks, started_by);
  Json& first = json["plans"][0];
  first["framework"] = answer.launch ? Json(answer.launch->framework) : Json(nullptr);
  first["export"] = answer.launch ? Json(answer.export_command()) : Json(nullptr);
  json["refusals"] = answer.refusals;
  json["unbound"] = unbound_json(answer);
  json["expert_parallel"] = answer.with_experts
                                ? tune::tuned_plan_json(result, *answer.with_experts, started_by)
                                : Json(nullptr);
  json["remedies"] = check::memory_remedies_json(answer.remedies);
  if (!answer.remedies.empty()) {
    Json& notes = json["notes"];
    notes.insert(notes.begin(), check::memory_remedies_sentence(answer.remedies));
  }
  if (answer.run) whole_run::add_training_runs_json(json, result, *answer.run);
  if (answer.against)
    json["against"] = tune::user_plan_comparison_json(result, *answer.against, started_by);
  if (answer.sweep) json["sweep"] = tune::sweep_json(*answer.sweep, answer.run);
  json["more_memory"] = tune::more_memory_json(result, answer.more_memory);
  json["two_strands"] = tune::two_micro_batch_streams_gain_json(result, answer.strands);
  json["made_by"] = producer_version_json();
  return json;
}

std::string tune_report(const TuneAnswer& answer, int threads) {
  const tune::TuneResult& result = answer.result;
  const report::SearchAgain search_again =
      [&](const plan::Job& job) -> std::optional<simulate::PlanPrediction> {
    const tune::TuneResult other = tune::tune(job, {.threads = threads, .top = 1});
    if (!other.plans.front().fits) return std::nullopt;
    return simulate::predict_plan({other.job, other.plans.front().plan});
  };
  Json pictures = report::prediction_charts_json(answer.best, search_again);
  pictures["name"] = plan_code_and_words_json(answer.best.planned.plan, result.job);
  pictures["names"] = listed_plan_names_json(result, answer.sweep);
  pictures["whole_run"] = whole_run::requested_run_json(
      answer.best, {.run = answer.run, .idle = whole_run::idle_devices_of_search(result)});
  if (answer.sweep) pictures["sweep_field"] = answer.sweep->field;
  return command_report_page("tune", plan::job_summary_line(result.job), tune_answer_json(answer),
                             pictures);
}

}  // namespace stepwright::answers
