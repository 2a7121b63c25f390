#include "stepwright/answers/prediction_answer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/answers/given_file.h"
#include "stepwright/answers/made_by.h"
#include "stepwright/answers/plan_names.h"
#include "stepwright/answers/report_text.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/notes.h"
#include "stepwright/report/prediction_pictures.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::answers {
namespace {

using Json = nlohmann::ordered_json;

/// Returns `after` minus `before` for each number that both have.
Json difference(const Json& before, const Json& after) {
  Json result = Json::object();
  for (const auto& [key, value] : after.items()) {
    if (!before.contains(key)) continue;
    const Json& old = before[key];
    if (value.is_object()) result[key] = difference(old, value);
    if (value.is_number_integer() && old.is_number_integer()) {
      result[key] = value.get<std::int64_t>() - old.get<std::int64_t>();
    } else if (value.is_number() && old.is_number()) {
      result[key] = value.get<double>() - old.get<double>();
    }
  }
  return result;
}

/// Returns all members of a prediction's document except the notes.
Json figures(const simulate::PlanPrediction& prediction) {
  Json json = simulate::prediction_json(prediction);
  json.erase("notes");
  return json;
}

Json with_run(const simulate::PlanPrediction& prediction,
              const std::optional<tune::TrainingLengthAndPrice>& run) {
  Json json = simulate::prediction_json(prediction);
  if (!run) return json;
  tune::add_training_run_cost_json(json, prediction.planned.job, 0, *run);
  json["whole_run"] = whole_run::requested_run_json(prediction, {.run = run});
  return json;
}

}  // namespace

PredictionAnswer predict_step_time_and_memory(plan::PlannedJob planned,
                                              const PredictionRequest& request) {
  request.reserve.replace_memory_margin_of_job(planned.job);
  const plan::PlannedJob changed =
      with_resolved_schedule(plan::plan_with_fields(planned, request.changes), request.name);
  PredictionAnswer answer{.before = {}, .prediction = {}, .run = request.run};
  if (!request.changes.empty()) answer.before = simulate::predict_plan(planned);
  answer.prediction = simulate::predict_plan(changed, request.timeline);
  if (!answer.prediction.memory.fits()) {
    answer.remedies = check::find_memory_remedies_with_flags(answer.prediction.planned);
  }
  std::vector<std::string>& notes = answer.prediction.notes;
  if (answer.before && figures(*answer.before) == figures(answer.prediction)) {
    notes.insert(notes.begin(), "The changes by --set change no figure of this prediction.");
  }
  if (std::string note = plan::training_method_note(changed.job); !note.empty()) {
    notes.push_back(std::move(note));
  }
  return answer;
}

Json prediction_answer_json(const PredictionAnswer& answer) {
  const Json changed = with_run(answer.prediction, answer.run);
  Json result = changed;
  result["remedies"] = check::memory_remedies_json(answer.remedies);
  result["made_by"] = producer_version_json();
  if (!answer.before) return result;
  const Json old = with_run(*answer.before, answer.run);
  result["baseline"] = old;
  result["changed"] = changed;
  result["difference"] = difference(old, changed);
  return result;
}

std::string prediction_report(const PredictionAnswer& answer) {
  const plan::PlannedJob& planned = answer.prediction.planned;
  Json pictures = report::prediction_charts_json(answer.prediction);
  pictures["name"] = plan_code_and_words_json(planned.plan, planned.job);
  pictures["whole_run"] = whole_run::requested_run_json(answer.prediction, {.run = answer.run});
  return command_report_page("predict", plan::job_summary_line(planned.job),
                             prediction_answer_json(answer), pictures);
}

}  // namespace stepwright::answers
