#include "stepwright/explore/explore.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/explore/choices.h"
#include "stepwright/explore/launch_exports.h"
#include "stepwright/explore/own_job.h"
#include "stepwright/explore/question.h"
#include "stepwright/explore/sizes.h"
#include "stepwright/explore/ways_out.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/memory/memory_json.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/notes.h"
#include "stepwright/report/prediction_pictures.h"
#include "stepwright/report/timeline.h"
#include "stepwright/simulate/found_order.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/alternatives.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;

/// After one choice was changed by hand, sets the data-parallel degree to fill the cluster, and
/// resets choices that no longer divide.
void settle(plan::PlannedJob& planned) {
  plan::ParallelismDegrees& degrees = planned.plan.parallel;
  const std::int64_t devices = planned.job.cluster.devices();
  const std::int64_t of_model = degrees.tensor * degrees.context * degrees.pipeline;
  if (devices % of_model == 0) degrees.data = devices / of_model;
  plan::adapt_dependent_choices(planned.job, planned.plan);
}

Json nearest_json(const plan::PlannedJob& planned, const plan::PlanRejection& refused) {
  Json list = Json::array();
  for (const plan::Plan& plan : refused.nearest) {
    list.push_back(explorer_alternative_plan_json({planned.job, plan}, planned));
  }
  return list;
}

Json predicted(const Json& question) {
  plan::PlannedJob planned = plan_of_explorer_question(question);
  if (question.value("settle", false)) settle(planned);
  Json answer = described_plan_json(planned);
  answer["job"] = plan::job_summary_line(planned.job);
  answer["sizes"] = legal_field_values_json(planned);
  if (const auto refused = plan::find_plan_rejection(planned.job, planned.plan)) {
    answer["refused"] = refused->message;
    answer["nearest"] = nearest_json(planned, *refused);
    return answer;
  }
  const plan::PlannedJob settled = simulate::resolve_schedule_order(planned);
  if (settled.plan != planned.plan) answer["settled"] = plan::plan_json(settled);
  simulate::PlanPrediction prediction = simulate::predict_plan(settled);
  if (std::string note = plan::training_method_note(settled.job); !note.empty()) {
    prediction.notes.push_back(std::move(note));
  }
  answer["prediction"] = simulate::prediction_json(prediction);
  if (Json there = nearest_runnable_plan_json(settled); !there["reasons"].empty()) {
    answer["not_run"] = std::move(there);
  }
  answer["whole_run"] = whole_run::requested_run_json(prediction, {});
  answer["memory"] = memory::memory_json(
      prediction.memory,
      memory::pytorch_allocated_memory(prediction.planned.job, prediction.program));
  return answer;
}

/// Separate from `predict`, because it simulates every micro-batch, while a prediction skips
/// repeating ones.
Json drawn(const Json& question) {
  const simulate::PlanPrediction whole =
      simulate::predict_plan(plan_of_explorer_question(question), true);
  return {{"timeline", report::timeline_json(whole)}};
}

Json pictured(const Json& question) {
  const plan::PlannedJob planned = plan_of_explorer_question(question);
  Json answer = report::prediction_charts_json(simulate::predict_plan(planned));
  answer["name"] = described_plan_json(planned);
  return answer;
}

/// Returns the options of a search in a browser, which has one thread.
tune::TuneOptions search_options(const tune::SearchProgressCallback& progress) {
  return {.threads = 1, .progress = progress, .tight_from = {}};
}

Json tuned(const Json& question, const tune::SearchProgressCallback& progress) {
  const tune::TuneResult result =
      tune::tune(plan_of_explorer_question(question).job, search_options(progress));
  Json plans = Json::array();
  const auto add = [&](const tune::TunedPlan& found) {
    Json entry = described_plan_json({result.job, found.plan});
    entry["step_time_s"] = found.step_time_s;
    entry["peak_memory_bytes"] = static_cast<std::int64_t>(found.peak_memory_bytes);
    entry["fits"] = found.fits;
    entry["verdict"] = name_of(memory::kFitVerdictNames, found.verdict);
    entry["p_fits"] = found.p_fits;
    plans.push_back(std::move(entry));
  };
  add(result.plans.front());
  for (const tune::AlternativePlan& other : tune::fastest_plan_of_each_family(result))
    add(other.tuned);
  return {{"plans", std::move(plans)},
          {"legal", result.space.legal},
          {"simulated", result.space.simulated},
          {"optimality_gap", result.optimality_gap}};
}

}  // namespace

Json answer_explorer_question(const Json& question, const tune::SearchProgressCallback& progress) {
  const std::string ask = question.at("ask");
  if (ask == "choices") return explorer_choices_json();
  if (ask == "predict") return predicted(question);
  if (ask == "timeline") return drawn(question);
  if (ask == "pictures") return pictured(question);
  if (ask == "tune") return tuned(question, progress);
  if (ask == "import") return job_from_user_files_json(question);
  if (ask == "export") return exported_plan_json(question);
  if (ask == "launches") return launchable_frameworks_json(question);
  if (ask == "nearest_fit") {
    return nearest_fitting_plan_json(plan_of_explorer_question(question), search_options(progress));
  }
  if (ask == "smallest_cluster") {
    return smallest_fitting_cluster_json(plan_of_explorer_question(question),
                                         search_options(progress));
  }
  if (ask == "remedies") return explorer_memory_remedies_json(plan_of_explorer_question(question));
  if (ask == "check")
    return job_check_answer_json(import_explorer_plan(question), search_options(progress));
  fail_input(fmt::format("the explorer cannot be asked '{}'", ask));
}

}  // namespace stepwright::explore
