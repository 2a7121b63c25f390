#include "stepwright/tune/tune_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/files.h"
#include "stepwright/simulate/efficiency.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/alternatives.h"

namespace stepwright::tune {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t whole(double bytes) { return static_cast<std::int64_t>(bytes); }

Json space_json(const SearchSpaceCounts& space) {
  return {{"total", space.total},        {"legal", space.legal},   {"duplicates", space.duplicates},
          {"fitting", space.fitting},    {"priced", space.priced}, {"bounded", space.bounded},
          {"simulated", space.simulated}};
}

Json baseline_json(const TuneResult& result) {
  if (!result.baseline) return nullptr;
  const BaselinePlan& baseline = *result.baseline;
  return {{"plan", plan::plan_json({result.job, baseline.plan})},
          {"step_time_s", baseline.step_time_s},
          {"peak_memory_bytes", whole(baseline.peak_memory_bytes)}};
}

Json rejected_json(const TuneResult& result) {
  Json list = Json::array();
  for (const PlanRefusalCount& refusal : result.rejected) {
    list.push_back({{"rule", refusal.rule}, {"reason", refusal.reason}, {"count", refusal.count}});
  }
  return list;
}

Json pareto_json(const TuneResult& result) {
  Json list = Json::array();
  for (const ParetoPoint& point : result.pareto) {
    list.push_back({{"plan", plan::plan_json({result.job, point.plan})},
                    {"step_time_s", point.step_time_s},
                    {"peak_memory_bytes", whole(point.peak_memory_bytes)}});
  }
  return list;
}

Json spares_json(const TuneResult& result) {
  if (!result.spares) return nullptr;
  const IdleDevicesGain& spares = *result.spares;
  const bool used = spares.step_time_if_used_s.has_value();
  return {{"nodes", spares.nodes},
          {"devices_of_node", spares.devices_of_node},
          {"step_time_if_used_s", used ? Json(*spares.step_time_if_used_s) : Json(nullptr)},
          {"tokens_per_s_if_used",
           used ? Json(result.job.tokens() / *spares.step_time_if_used_s) : Json(nullptr)}};
}

Json alternatives_json(const TuneResult& result, const FrameworksRunningPlan& started_by) {
  Json list = Json::array();
  for (const AlternativePlan& alternative : fastest_plan_of_each_family(result)) {
    Json entry = {{"family", alternative.family}};
    entry.update(tuned_plan_json(result, alternative.tuned, started_by));
    entry["wins"] = alternative.wins;
    entry["loses"] = alternative.loses;
    list.push_back(std::move(entry));
  }
  return list;
}

Json nearest_json(const TuneResult& result, const std::vector<NearestFrameworkPlan>& runs) {
  const plan::Plan& best = result.plans.front().plan;
  Json list = Json::array();
  for (const NearestPlanGroup& nearest : group_frameworks_by_nearest_plan(runs, best)) {
    const bool found = nearest.plan.has_value();
    list.push_back({{"frameworks", nearest.frameworks},
                    {"plan", found ? plan::plan_json({result.job, *nearest.plan}) : Json(nullptr)},
                    {"changes", found ? Json(plan::differing_choices_text(best, *nearest.plan))
                                      : Json(nullptr)}});
  }
  return list;
}

Json starts_json(const std::vector<NearestFrameworkPlan>& runs, const plan::Plan& best) {
  Json list = Json::array();
  for (const NearestFrameworkPlan& run : runs) {
    if (!run.plan) continue;
    list.push_back(
        {{"framework", run.framework},
         {"attention", name_of(cluster::kAttentionKernelNames, run.attention)},
         {"price_s", run.price_s},
         {"step_time_s", run.step_time_s},
         {"fits", run.fits},
         {"verdict", name_of(memory::kFitVerdictNames, run.verdict)},
         {"changes", run.plan == best ? "" : plan::differing_choices_text(best, *run.plan)}});
  }
  return list;
}

}  // namespace

std::vector<std::string> all_plan_notes(const TuneResult& result,
                                        const simulate::PlanPrediction& best) {
  std::vector<std::string> notes = best.notes;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& note : more) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  };
  add(result.notes);
  add(best.basis);
  return notes;
}

Json tuned_plan_json(const TuneResult& result, const TunedPlan& tuned,
                     const FrameworksRunningPlan& started_by) {
  const simulate::ModelFlopsEfficiency used =
      simulate::model_flops_efficiency(result.job, tuned.plan, tuned.step_time_s);
  const step::StepTokens tokens = step::step_tokens(result.job, tuned.plan);
  Json out = {{"plan", plan::plan_json({result.job, tuned.plan})},
              {"step_time_s", tuned.step_time_s},
              {"low_s", tuned.interval.low * tuned.step_time_s},
              {"high_s", tuned.interval.high * tuned.step_time_s},
              {"tokens_per_s", tokens.slots / tuned.step_time_s},
              {"mfu", used.mfu},
              {"tflops_per_device", used.flops_per_s / 1e12},
              {"peak_flops", used.peak_flops},
              {"price_s", tuned.price_s},
              {"lower_bound_s", tuned.lower_bound_s},
              {"upper_bound_s", tuned.upper_bound_s},
              {"peak_memory_bytes", whole(tuned.peak_memory_bytes)},
              {"fits", tuned.fits},
              {"verdict", name_of(memory::kFitVerdictNames, tuned.verdict)},
              {"p_fits", tuned.p_fits},
              {"tied", tuned.tied},
              {"breakdown", simulate::time_breakdown_json(tuned.breakdown)},
              {"devices_used", tuned.plan.parallel.ranks()},
              {"devices_idle", result.devices_idle},
              {"runs_on", started_by(tuned.plan)},
              {"lost", tuned.lost}};
  if (!tuned.fits) {
    out["largest_kind"] = tuned.largest_part;
    out["over_by_bytes"] = whole(tuned.over_by_bytes);
  }
  if (result.job.documents) {
    out["packing_efficiency"] = tokens.of_documents / tokens.slots;
    out["document_tokens_per_s"] = tokens.of_documents / tuned.step_time_s;
    out["waits_s"] = tuned.waits_s;
  }
  return out;
}

Json tune_json(const TuneResult& result, const simulate::PlanPrediction& best,
               const std::vector<NearestFrameworkPlan>& runs,
               const FrameworksRunningPlan& started_by) {
  Json plans = Json::array();
  for (const TunedPlan& tuned : result.plans) {
    plans.push_back(tuned_plan_json(result, tuned, started_by));
  }
  const plan::Plan& plan = result.plans.front().plan;
  return {{"plans", plans},
          {"alternatives", alternatives_json(result, started_by)},
          {"starts", starts_json(runs, plan)},
          {"nearest", nearest_json(result, runs)},
          {"optimality_gap", result.optimality_gap},
          {"space", space_json(result.space)},
          {"rejected", rejected_json(result)},
          {"baseline", baseline_json(result)},
          {"speedup_over_baseline",
           result.baseline ? Json(result.speedup_over_baseline) : Json(nullptr)},
          {"pareto", pareto_json(result)},
          {"nodes", result.job.cluster.nodes},
          {"spares", spares_json(result)},
          {"target_met", result.target_met},
          {"seconds", result.seconds},
          {"notes", all_plan_notes(result, best)}};
}

}  // namespace stepwright::tune
