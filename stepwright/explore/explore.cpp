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
#include "stepwright/plan/codes.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/legality.h"
#include "stepwright/plan/notes.h"
#include "stepwright/plan/words.h"
#include "stepwright/report/prediction_pictures.h"
#include "stepwright/report/timeline.h"
#include "stepwright/simulate/found_order.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/alternatives.h"
#include "stepwright/tune/baseline.h"
#include "stepwright/tune/free_kernels.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

/// The plan with which an expert would begin; where nothing of that fits, what needs least memory
/// without cutting the model.
PlannedJob begin(const Job& given) {
  PlannedJob first{.job = with_free_kernels(given), .plan = {}};
  if (const auto rule = rule_of_thumb(first.job, CostModel(first.job), room_of(first.job))) {
    first.plan = rule->plan;
    return first;
  }
  first.plan.parallel.data = first.job.cluster.devices();
  first.plan.sharding = *sharding_of("zero3");
  first.plan.recompute.kind = RecomputeKind::kFull;
  return first;
}

PlannedJob read(const Json& question) {
  const Document document =
      Document::parse(question.at("text").get<std::string>(), question.at("name"));
  if (is_file_of(document, "job")) return begin(read_job(document, {}));
  return read_plan(document, {});
}

/// After one choice was changed by hand: data fills the cluster, and what no longer divides gives
/// way.
void settle(PlannedJob& planned) {
  Parallel& degrees = planned.plan.parallel;
  const std::int64_t devices = planned.job.cluster.devices();
  const std::int64_t of_model = degrees.tensor * degrees.context * degrees.pipeline;
  if (devices % of_model == 0) degrees.data = devices / of_model;
  follow(planned.job, planned.plan);
}

Json named(const PlannedJob& planned) {
  return {{"code", plan_code(planned.plan)},
          {"words", plan_words(planned.plan, planned.job)},
          {"plan", plan_json(planned)}};
}

Json nearest_json(const PlannedJob& planned, const Rejected& refused) {
  Json list = Json::array();
  for (const Plan& plan : refused.nearest) {
    Json entry = named({planned.job, plan});
    entry["changes"] = changes(planned.plan, plan);
    list.push_back(std::move(entry));
  }
  return list;
}

Json predicted(const Json& question) {
  PlannedJob planned = read(question);
  if (question.value("settle", false)) settle(planned);
  Json answer = named(planned);
  answer["job"] = job_line(planned.job);
  answer["sizes"] = sizes_json(planned);
  if (const auto refused = illegal(planned.job, planned.plan)) {
    answer["refused"] = refused->message;
    answer["nearest"] = nearest_json(planned, *refused);
    return answer;
  }
  const PlannedJob settled = with_order(planned);
  if (settled.plan != planned.plan) answer["settled"] = plan_json(settled);
  Prediction prediction = predict(settled);
  if (std::string note = method_note(settled.job); !note.empty()) {
    prediction.notes.push_back(std::move(note));
  }
  answer["prediction"] = prediction_json(prediction);
  answer["whole_run"] = asked_run_json(prediction, {});
  answer["memory"] =
      memory_json(prediction.memory, allocated_memory(prediction.planned.job, prediction.program));
  return answer;
}

/// Apart, since it plays every micro-batch, of which a prediction leaves out those that repeat.
Json drawn(const Json& question) {
  return {{"timeline", timeline_overview_json(predict(read(question), true))}};
}

Json pictured(const Json& question) {
  const PlannedJob planned = read(question);
  Json answer = prediction_pictures(predict(planned));
  answer["name"] = named(planned);
  return answer;
}

Json tuned(const Json& question, const TellProgress& progress) {
  const TuneResult result = tune(read(question).job, {.threads = 1, .progress = progress});
  Json plans = Json::array();
  const auto add = [&](const TunedPlan& found) {
    Json entry = named({result.job, found.plan});
    entry["step_time_s"] = found.step_time_s;
    entry["peak_memory_bytes"] = static_cast<std::int64_t>(found.peak_memory_bytes);
    entry["fits"] = found.fits;
    plans.push_back(std::move(entry));
  };
  add(result.plans.front());
  for (const Alternative& other : alternatives(result)) add(other.tuned);
  return {{"plans", std::move(plans)},
          {"legal", result.space.legal},
          {"simulated", result.space.simulated},
          {"optimality_gap", result.optimality_gap}};
}

}  // namespace

Json explore(const Json& question, const TellProgress& progress) {
  const std::string ask = question.at("ask");
  if (ask == "choices") return choices_json();
  if (ask == "predict") return predicted(question);
  if (ask == "timeline") return drawn(question);
  if (ask == "pictures") return pictured(question);
  if (ask == "tune") return tuned(question, progress);
  fail_input(fmt::format("the explorer cannot be asked '{}'", ask));
}

}  // namespace stepwright
