#include "stepwright/explore/launch_exports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/explore/question.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/starters.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/found_order.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/frameworks.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlace = "plan";  // Begins the messages of refusals.

/// Returns the plan of a question, which must be legal, with its schedule order chosen.
plan::PlannedJob legal_plan(const Json& question) {
  const plan::PlannedJob planned = plan_of_explorer_question(question);
  if (const auto refused = plan::find_plan_rejection(planned.job, planned.plan)) {
    plan::fail_rejected_plan(*refused, question.at("name").get<std::string>());
  }
  return simulate::resolve_schedule_order(planned);
}

/// Returns the name of the file that a target writes: "megatron.sh".
std::string file_name(std::string_view target, const std::string& release) {
  const auto& endings = framework_files::launch_target_description(target).endings;
  for (const auto& [ending, last] : endings) {
    if (last.empty() || last == release) return fmt::format("{}.{}", target, ending);
  }
  return std::string(target);
}

void add_figures(Json& json, const plan::PlannedJob& started) {
  const simulate::PlanPrediction prediction = simulate::predict_plan(started);
  json["step_time_s"] = prediction.step_time_s();
  json["peak_memory_bytes"] = static_cast<std::int64_t>(prediction.memory.peak_bytes);
  json["fits"] = prediction.memory.fits();
  json["p_fits"] = prediction.memory.p_fits;
}

/// Returns why a target does not write a plan: the choices that its framework cannot run, or else
/// the writer's message without its leading position.
std::string reason_of(const Error& error, const std::string& to, const plan::PlannedJob& planned) {
  const std::vector<std::string> reasons = framework_files::framework_refusal_reasons(
      framework_files::framework_for_exported_job(to, planned.job), planned);
  if (!reasons.empty()) return fmt::format("{}", fmt::join(reasons, "; "));
  const std::string message = error.what();
  const std::string opening = fmt::format("{}: ", kPlace);
  return message.starts_with(opening) ? message.substr(opening.size()) : message;
}

/// Returns the nearest plan that a target can write; null: none is near.
Json nearest_written(const std::string& to, const plan::PlannedJob& planned,
                     const std::string& release) {
  try {
    const auto file = framework_files::export_plan(to, planned, release, true, kPlace);
    Json offered = explorer_alternative_plan_json(
        {planned.job, file.started.plan},
        {planned.job, plan::canonical_plan(planned.plan, planned.job)});
    add_figures(offered, file.started);
    return offered;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    return nullptr;
  }
}

}  // namespace

Json export_targets_json() {
  Json targets = Json::array();
  for (const std::string& word : framework_files::export_target_names()) {
    const auto& data = framework_files::launch_target_description(word);
    targets.push_back({{"to", word}, {"about", data.about}, {"framework", data.framework}});
  }
  return targets;
}

Json exported_plan_json(const Json& question) {
  const std::string to = question.at("to");
  const std::string release = question.value("release", "");
  const plan::PlannedJob planned = legal_plan(question);
  try {
    const auto file = framework_files::export_plan(to, planned, release,
                                                   question.value("nearest", false), kPlace);
    Json answer = {{"file", {{"name", file_name(to, release)}, {"text", file.text}}},
                   {"notes", file.notes},
                   {"as_it_is", file.as_it_is},
                   {"plan", described_plan_json(file.started).at("plan")}};
    add_figures(answer, file.started);
    return answer;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    return {{"refused", reason_of(error, to, planned)},
            {"nearest", nearest_written(to, planned, release)}};
  }
}

Json launchable_frameworks_json(const Json& question) {
  const plan::PlannedJob planned = legal_plan(question);
  const plan::Plan plan = plan::canonical_plan(planned.plan, planned.job);
  std::vector<plan::TrainingFramework> frameworks;
  for (const auto& starter : framework_files::importable_and_exportable_frameworks())
    frameworks.push_back(starter.framework);
  const std::vector<tune::NearestFrameworkPlan> runs =
      tune::nearest_framework_plans(planned.job, plan, frameworks, 1);
  Json launches = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const framework_files::RoundTripFramework& starter =
        framework_files::importable_and_exportable_frameworks()[i];
    const std::string why =
        framework_files::plan_not_run_unchanged_reason(starter, {planned.job, plan});
    Json launch = {{"to", starter.target},
                   {"framework", starter.framework_or_variant_name()},
                   {"starts", why.empty()}};
    if (!why.empty()) launch["why"] = why;
    if (runs[i].plan) {
      if (*runs[i].plan != plan) {
        launch["nearest"] =
            explorer_alternative_plan_json({planned.job, *runs[i].plan}, {planned.job, plan});
      }
      launch["step_time_s"] = runs[i].step_time_s;
      launch["fits"] = runs[i].fits;
    }
    launches.push_back(std::move(launch));
  }
  return {{"launches", std::move(launches)}};
}

}  // namespace stepwright::explore
