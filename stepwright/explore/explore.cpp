#include "stepwright/explore/explore.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/explore/choices.h"
#include "stepwright/explore/sizes.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/memory/memory_json.h"
#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/notes.h"
#include "stepwright/report/prediction_pictures.h"
#include "stepwright/report/timeline.h"
#include "stepwright/simulate/found_order.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/alternatives.h"
#include "stepwright/tune/baseline.h"
#include "stepwright/tune/free_kernels.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;

/// The plan with which an expert would begin; where nothing of that fits, what needs least memory
/// without cutting the model.
plan::PlannedJob begin(const plan::Job& given) {
  plan::PlannedJob first{.job = tune::with_free_kernels(given), .plan = {}};
  if (const auto rule = tune::rule_of_thumb(first.job, cost::CostModel(first.job),
                                            simulate::room_of(first.job))) {
    first.plan = rule->plan;
    return first;
  }
  first.plan.parallel.data = first.job.cluster.devices();
  first.plan.sharding = *plan::sharding_of("zero3");
  first.plan.recompute.kind = plan::RecomputeKind::kFull;
  return first;
}

plan::PlannedJob read(const Json& question) {
  const Document document =
      Document::parse(question.at("text").get<std::string>(), question.at("name"));
  if (plan::is_file_of(document, "job")) return begin(plan::read_job(document, {}));
  return plan::read_plan(document, {});
}

/// After one choice was changed by hand: data fills the cluster, and what no longer divides gives
/// way.
void settle(plan::PlannedJob& planned) {
  plan::Parallel& degrees = planned.plan.parallel;
  const std::int64_t devices = planned.job.cluster.devices();
  const std::int64_t of_model = degrees.tensor * degrees.context * degrees.pipeline;
  if (devices % of_model == 0) degrees.data = devices / of_model;
  plan::follow(planned.job, planned.plan);
}

Json named(const plan::PlannedJob& planned) {
  return {{"code", plan::plan_code(planned.plan)},
          {"words", plan::plan_words(planned.plan, planned.job)},
          {"plan", plan::plan_json(planned)}};
}

Json nearest_json(const plan::PlannedJob& planned, const plan::Rejected& refused) {
  Json list = Json::array();
  for (const plan::Plan& plan : refused.nearest) {
    Json entry = named({planned.job, plan});
    entry["changes"] = plan::changes(planned.plan, plan);
    list.push_back(std::move(entry));
  }
  return list;
}

Json predicted(const Json& question) {
  plan::PlannedJob planned = read(question);
  if (question.value("settle", false)) settle(planned);
  Json answer = named(planned);
  answer["job"] = plan::job_line(planned.job);
  answer["sizes"] = sizes_json(planned);
  if (const auto refused = plan::illegal(planned.job, planned.plan)) {
    answer["refused"] = refused->message;
    answer["nearest"] = nearest_json(planned, *refused);
    return answer;
  }
  const plan::PlannedJob settled = simulate::with_order(planned);
  if (settled.plan != planned.plan) answer["settled"] = plan::plan_json(settled);
  simulate::Prediction prediction = simulate::predict(settled);
  if (std::string note = plan::method_note(settled.job); !note.empty()) {
    prediction.notes.push_back(std::move(note));
  }
  answer["prediction"] = simulate::prediction_json(prediction);
  answer["whole_run"] = whole_run::asked_run_json(prediction, {});
  answer["memory"] = memory::memory_json(
      prediction.memory, memory::allocated_memory(prediction.planned.job, prediction.program));
  return answer;
}

/// Apart, since it plays every micro-batch, of which a prediction leaves out those that repeat.
Json drawn(const Json& question) {
  return {{"timeline", report::timeline_overview_json(simulate::predict(read(question), true))}};
}

Json pictured(const Json& question) {
  const plan::PlannedJob planned = read(question);
  Json answer = report::prediction_pictures(simulate::predict(planned));
  answer["name"] = named(planned);
  return answer;
}

Json tuned(const Json& question, const tune::TellProgress& progress) {
  const tune::TuneResult result =
      tune::tune(read(question).job, {.threads = 1, .progress = progress});
  Json plans = Json::array();
  const auto add = [&](const tune::TunedPlan& found) {
    Json entry = named({result.job, found.plan});
    entry["step_time_s"] = found.step_time_s;
    entry["peak_memory_bytes"] = static_cast<std::int64_t>(found.peak_memory_bytes);
    entry["fits"] = found.fits;
    plans.push_back(std::move(entry));
  };
  add(result.plans.front());
  for (const tune::Alternative& other : tune::alternatives(result)) add(other.tuned);
  return {{"plans", std::move(plans)},
          {"legal", result.space.legal},
          {"simulated", result.space.simulated},
          {"optimality_gap", result.optimality_gap}};
}

}  // namespace

Json explore(const Json& question, const tune::TellProgress& progress) {
  const std::string ask = question.at("ask");
  if (ask == "choices") return choices_json();
  if (ask == "predict") return predicted(question);
  if (ask == "timeline") return drawn(question);
  if (ask == "pictures") return pictured(question);
  if (ask == "tune") return tuned(question, progress);
  fail_input(fmt::format("the explorer cannot be asked '{}'", ask));
}

}  // namespace stepwright::explore
