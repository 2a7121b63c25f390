#include "stepwright/answers/comparison_answer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/answers/plan_names.h"
#include "stepwright/answers/report_text.h"
#include "stepwright/plan/choices/words.h"

namespace stepwright::answers {

LogComparisonAnswer compare_plan_with_logs(const plan::PlannedJob& planned,
                                           const std::vector<std::string>& logs) {
  simulate::PlanPrediction prediction = simulate::predict_plan(planned);
  PredictionRunComparison run = compare_prediction_with_logs(prediction, logs);
  const bool differs = run.differs();
  return {.prediction = std::move(prediction),
          .run = std::move(run),
          .fault = differs ? "the messages of the run differ from those of the plan" : ""};
}

nlohmann::ordered_json log_comparison_answer_json(const LogComparisonAnswer& answer) {
  return prediction_run_comparison_json(answer.run, answer.prediction);
}

std::string log_comparison_report(const LogComparisonAnswer& answer) {
  const plan::PlannedJob& planned = answer.prediction.planned;
  return command_report_page("compare", plan::job_summary_line(planned.job),
                             log_comparison_answer_json(answer),
                             {{"name", plan_code_and_words_json(planned.plan, planned.job)}});
}

}  // namespace stepwright::answers
