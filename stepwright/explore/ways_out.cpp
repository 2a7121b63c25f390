#include "stepwright/explore/ways_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stepwright/check/check.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/core/format.h"
#include "stepwright/explore/question.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/nearest_fit.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;

/// The most nodes of a smallest cluster.
constexpr std::int64_t kMostNodes = 1024;
/// A step-time target that every plan meets, so that memory alone decides.
constexpr double kAnyStepTime = 1e15;

Json none(std::string why) { return {{"none", std::move(why)}}; }

/// Returns an offered plan with its predicted figures.
Json predicted_offer(const plan::PlannedJob& offered, const plan::PlannedJob& instead_of) {
  const simulate::PlanPrediction prediction = simulate::predict_plan(offered);
  Json offer = explorer_alternative_plan_json(offered, instead_of);
  offer["step_time_s"] = prediction.step_time_s();
  offer["peak_memory_bytes"] = static_cast<std::int64_t>(prediction.memory.peak_bytes);
  offer["p_fits"] = prediction.memory.p_fits;
  return offer;
}

/// Returns the job on as many nodes as the search may use, with no goal other than to fit.
plan::Job any_nodes(const plan::Job& job) {
  const std::int64_t most =
      std::min(kMostNodes, cluster::kMaxClusterDevices / job.cluster.devices_per_node);
  plan::Job wide = plan::plan_with_field({job, {}}, fmt::format("cluster.nodes={}", most)).job;
  wide.objective.kind = plan::TunerObjectiveKind::kSmallestCluster;
  wide.objective.target_step_time_s = kAnyStepTime;
  wide.objective.target_tokens_per_s = 0;
  return wide;
}

/// Returns remedies as in `check --json`, each with the changed `planned`.
Json offered_remedies(const std::vector<check::MemoryRemedyWithFlags>& found,
                      const plan::PlannedJob& planned) {
  Json remedies = check::memory_remedies_json(found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    remedies[i]["name"] = tune::memory_remedy_name(found[i].remedy.kind);
    remedies[i].update(explorer_alternative_plan_json(found[i].remedy.changed, planned));
  }
  return remedies;
}

/// Adds to each gain of a check the plan after that change (an offered plan).
void add_reached_plans(Json& gains, const check::JobCheckResult& check) {
  if (!check.better) return;
  plan::PlannedJob reached = check.prediction->planned;
  for (std::size_t i = 0; i < check.better->changes.size(); ++i) {
    const tune::PlanChange& change = check.better->changes[i];
    for (const std::string& assignment : change.set) {
      // Kernels are the only setting of a job that a search changes.
      if (assignment.starts_with("kernels.")) reached = plan::plan_with_field(reached, assignment);
    }
    reached.plan = change.reached.plan;
    gains[i].update(explorer_alternative_plan_json(reached, check.prediction->planned));
  }
}

}  // namespace

Json nearest_runnable_plan_json(const plan::PlannedJob& planned) {
  const plan::TrainingFramework& framework = planned.job.framework;
  const std::vector<std::string> reasons =
      framework_files::framework_refusal_reasons(framework, planned);
  Json answer = {{"reasons", reasons}};
  if (reasons.empty()) return answer;
  const plan::PlannedJob own{planned.job, plan::canonical_plan(planned.plan, planned.job)};
  if (const auto nearest = plan::nearest_runnable_plan(framework, planned.job, planned.plan)) {
    answer["offer"] = explorer_alternative_plan_json({planned.job, *nearest}, own);
  } else {
    answer["none"] = fmt::format("{} runs no similar plan", framework.name);
  }
  return answer;
}

Json nearest_fitting_plan_json(const plan::PlannedJob& planned, const tune::TuneOptions& options) {
  if (simulate::predict_plan(planned).memory.fits()) return none("The plan fits without changes");
  const std::optional<plan::Plan> nearest = tune::nearest_fitting_plan(planned, options);
  if (!nearest) {
    const cluster::Cluster& cluster = planned.job.cluster;
    return none(fmt::format("No plan of this job fits on {} of {}",
                            count_with_noun(cluster.nodes, "node"), cluster.name));
  }
  return {{"offer", predicted_offer({planned.job, *nearest}, planned)}};
}

Json smallest_fitting_cluster_json(const plan::PlannedJob& planned,
                                   const tune::TuneOptions& options) {
  const plan::Job wide = any_nodes(planned.job);
  tune::TuneOptions best = options;
  best.only_best = true;
  const tune::TuneOutcome outcome = tune::try_tune(wide, best);
  const auto* result = std::get_if<tune::TuneResult>(&outcome);
  if (result == nullptr || !result->target_met) {
    return none(fmt::format("No plan of this job fits on up to {} of {}",
                            count_with_noun(wide.cluster.nodes, "node"), wide.cluster.name));
  }
  plan::PlannedJob smallest{result->job, result->plans.front().plan};
  smallest.job.objective = planned.job.objective;
  Json offer = predicted_offer(smallest, planned);
  offer["nodes"] = smallest.job.cluster.nodes;
  offer["devices"] = smallest.job.cluster.devices();
  return {{"offer", std::move(offer)}};
}

Json explorer_memory_remedies_json(const plan::PlannedJob& planned) {
  const std::vector<check::MemoryRemedyWithFlags> found =
      check::find_memory_remedies_with_flags(planned, {}, nullptr, 1);
  return {{"remedies", offered_remedies(found, planned)}};
}

Json job_check_answer_json(framework_files::ImportedPlan imported,
                           const tune::TuneOptions& options) {
  const check::JobCheckResult check = check::check_job(std::move(imported), options);
  Json answer = check::job_check_json(check, check::reason_not_to_submit_job(check, std::nullopt));
  add_reached_plans(answer["gains"], check);
  if (check.is_plan_legal()) {
    answer["remedies"] = offered_remedies(check.remedies, check.prediction->planned);
  }
  return answer;
}

}  // namespace stepwright::explore
