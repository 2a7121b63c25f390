#include "stepwright/whole_run/plans_by_run.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/tune/alternatives.h"
#include "stepwright/tune/misfit.h"
#include "stepwright/tune/used_devices.h"

namespace stepwright::whole_run {
namespace {

/// Numbers of nodes to try: all but one, all but two, and numbers with many divisors.
std::vector<std::int64_t> fewer_nodes(const cluster::Cluster& cluster) {
  std::vector<std::int64_t> counts;
  for (const std::int64_t nodes : {cluster.nodes - 1, cluster.nodes - 2}) {
    if (nodes >= 1) counts.push_back(nodes);
  }
  for (const cluster::Cluster& part : tune::cluster_parts_to_try(cluster)) {
    if (part.nodes < cluster.nodes) counts.push_back(part.nodes);
  }
  std::ranges::sort(counts, std::greater<>());
  counts.erase(std::ranges::unique(counts).begin(), counts.end());
  return counts;
}

/// Returns the devices of a cluster that a job leaves idle.
IdleDevices idle_beside(const plan::Job& job, const cluster::Cluster& whole) {
  return {.devices = whole.devices() - job.cluster.devices(),
          .nodes = whole.nodes - job.cluster.nodes};
}

class Candidates {
 public:
  Candidates(const plan::Job& job, const std::function<tune::TuneResult(const plan::Job&)>& search)
      : job_(job), search_(search) {}

  PlanRunComparison run() {
    const tune::TuneResult whole = search_(job_);
    const tune::TunedPlan& best = whole.plans.front();
    if (best.verdict == memory::MemoryFitVerdict::kDoesNotFit) {
      throw Error(ErrorKind::kRuntime, tune::memory_shortage_error_text(best));
    }
    for (const tune::TunedPlan& tuned : whole.plans) add(whole.job, tuned.plan);
    for (const tune::AlternativePlan& other : tune::fastest_plan_of_each_family(whole))
      add(whole.job, other.tuned.plan);
    if (job_.run.repair_s || found_.candidates.empty()) add_fewer_nodes();
    if (found_.candidates.empty()) fail_input(found_.endless.front().why);
    std::ranges::stable_sort(found_.candidates, {},
                             [](const PlanWithTrainingRun& one) { return one.run.time.wall_s; });
    const auto fastest = std::ranges::min_element(
        found_.candidates, {},
        [](const PlanWithTrainingRun& one) { return one.run.process.step_s; });
    found_.fastest_step = static_cast<std::size_t>(fastest - found_.candidates.begin());
    return std::move(found_);
  }

 private:
  void add(const plan::Job& job, const plan::Plan& plan) {
    const bool known = std::ranges::any_of(found_.candidates, [&](const PlanWithTrainingRun& one) {
      const plan::PlannedJob& planned = one.prediction.planned;
      return planned.plan == plan && planned.job.cluster == job.cluster;
    });
    if (known) return;
    PlanWithTrainingRun one{.prediction = simulate::predict_plan({job, plan}),
                            .idle = idle_beside(job, job_.cluster)};
    try {
      one.run = predict_training_run(one.prediction, job.run, one.idle);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInput) throw;
      found_.endless.push_back(
          {one.prediction.planned, one.prediction.step_time_s(), error.what()});
      return;
    }
    found_.candidates.push_back(std::move(one));
  }

  void add_fewer_nodes() {
    std::int64_t least = job_.cluster.nodes;
    for (const std::int64_t nodes : fewer_nodes(job_.cluster)) add_part(least = nodes);
    while (least > 1 && best_on_at_most(least)) {
      least = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(least - 1)));
      add_part(least);
    }
  }

  /// True if the shortest run so far uses at most `nodes` nodes, or no run ends.
  [[nodiscard]] bool best_on_at_most(std::int64_t nodes) const {
    const auto best = std::ranges::min_element(
        found_.candidates, {}, [](const PlanWithTrainingRun& one) { return one.run.time.wall_s; });
    return best == found_.candidates.end() || best->prediction.planned.job.cluster.nodes <= nodes;
  }

  /// A part of the cluster without a legal plan adds no candidate.
  void add_part(std::int64_t nodes) {
    plan::Job part = job_;
    part.cluster =
        tune::cluster_reduced_to_devices(job_.cluster, nodes, job_.cluster.devices_per_node);
    try {
      const tune::TuneResult found = search_(part);
      if (found.plans.front().fits) add(found.job, found.plans.front().plan);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInput) throw;
    }
  }

  const plan::Job& job_;
  const std::function<tune::TuneResult(const plan::Job&)>& search_;
  PlanRunComparison found_;
};

}  // namespace

PlanRunComparison compare_plans_by_run(
    const plan::Job& job, const std::function<tune::TuneResult(const plan::Job&)>& search) {
  return Candidates(job, search).run();
}

nlohmann::ordered_json run_candidates_json(const PlanRunComparison& comparison) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const PlanWithTrainingRun& one = comparison.candidates[i];
    const plan::Job& job = one.prediction.planned.job;
    nlohmann::ordered_json entry = {{"code", plan::short_plan_code(one.prediction.planned.plan)},
                                    {"nodes", job.cluster.nodes},
                                    {"spare_nodes", one.run.process.spare_nodes},
                                    {"fastest_step", i == comparison.fastest_step}};
    entry.update(whole_run_json(one.run));
    list.push_back(std::move(entry));
  }
  return list;
}

nlohmann::ordered_json never_ending_runs_json(const PlanRunComparison& comparison) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const NeverEndingRun& one : comparison.endless) {
    list.push_back({{"code", plan::short_plan_code(one.planned.plan)},
                    {"nodes", one.planned.job.cluster.nodes},
                    {"step_time_s", one.step_s},
                    {"why", one.why}});
  }
  return list;
}

}  // namespace stepwright::whole_run
