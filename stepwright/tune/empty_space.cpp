#include "stepwright/tune/empty_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/format.h"
#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/tune/data_choices.h"
#include "stepwright/tune/frameworks.h"

namespace stepwright::tune {
namespace {

std::int64_t legal_plans(const plan::Job& job) {
  const SearchSpaceDimensions space = search_space_dimensions(job);
  return LegalPlanCounter(job, space).legal();
}

/// A change of the job after which `legal` plans are legal.
struct LegalChange {
  std::string change;
  std::int64_t legal = 0;
};

std::vector<LegalChange> freed_dimensions(const plan::Job& job) {
  std::vector<LegalChange> remedies;
  plan::each_choice([&](const auto& choice) {
    if (choice.list(job.space).empty()) return;
    plan::Job freed = job;
    choice.list(freed.space).clear();
    if (const std::int64_t legal = legal_plans(freed); legal > 0) {
      remedies.push_back({fmt::format("{} free", choice.key), legal});
    }
  });
  return remedies;
}

/// Returns global batches, nearest first, that the ranks of a cluster may share evenly.
std::vector<std::int64_t> near_batches(const plan::Job& job) {
  std::vector<std::int64_t> micro_batches = job.space.micro_batch;
  if (micro_batches.empty()) micro_batches.push_back(1);
  std::vector<std::int64_t> batches;
  for (const std::int64_t ranks : plan::divisors(job.cluster.devices())) {
    for (const std::int64_t size : micro_batches) {
      const std::int64_t step = overflow_capped_product(ranks, size);
      const std::int64_t below = job.sequences / step * step;
      if (below > 0) batches.push_back(below);
      batches.push_back(plus(below, step));
    }
  }
  const auto change = [&](std::int64_t batch) { return std::abs(batch - job.sequences); };
  std::ranges::sort(batches, {},
                    [&](std::int64_t batch) { return std::pair(change(batch), batch); });
  const auto repeated = std::ranges::unique(batches);
  batches.erase(repeated.begin(), repeated.end());
  return batches;
}

/// Returns the nearest global batch with which some plan is legal; empty if none was found.
std::vector<LegalChange> another_batch(const plan::Job& job) {
  for (const std::int64_t sequences : near_batches(job)) {
    plan::Job other = job;
    other.sequences = sequences;
    if (const std::int64_t legal = legal_plans(other); legal > 0) {
      return {{fmt::format("batch.sequences {}", sequences), legal}};
    }
  }
  return {};
}

/// Returns advice on changes that leave legal plans: another batch, another framework, a freed
/// dimension.
std::string advice(const plan::Job& job, std::vector<LegalChange> remedies) {
  for (LegalChange& remedy : freed_dimensions(job)) remedies.push_back(std::move(remedy));
  std::vector<std::string> words;
  for (const LegalChange& remedy : remedies) {
    words.push_back(fmt::format("{} ({})", remedy.change, format_count(remedy.legal)));
  }
  if (words.empty()) return "freeing a single dimension makes no plan legal";
  return fmt::format("changes with which plans are legal (and how many): {}",
                     fmt::join(words, ", or "));
}

/// Returns the job changed so that it obeys a rule that looks at the job alone.
plan::Job mended(plan::Job job, plan::PlanLegalityRule rule) {
  if (rule == plan::PlanLegalityRule::kLengthWithinPositions)
    job.length = job.model.longest_learned_sequence() / 2 * 2;
  if (rule == plan::PlanLegalityRule::kPrecision) {
    const auto& rates = job.cluster.device.peak_flops;
    job.precision = rates.contains(DType::kBf16) ? DType::kBf16 : rates.begin()->first;
  }
  return job;
}

/// Returns a plan of the grid that breaks the rule by its offload; nullopt if none does.
std::optional<plan::PlanRejection> broken_by_offload(const plan::Job& job,
                                                     const SearchSpaceDimensions& space,
                                                     plan::PlanLegalityRule rule, plan::Plan grid) {
  for (const plan::HostOffload& states : state_offload_combinations(space.offload)) {
    grid.offload = states;
    for (const plan::OffloadModuleSet modules : space.offload.activations) {
      grid.offload.activations = modules;
      if (plan::first_broken_rule(job, grid) == rule) return plan::find_plan_rejection(job, grid);
    }
  }
  return std::nullopt;
}

/// Returns a plan of the grid that breaks the rule by its micro-batch, schedule, chunks or layers;
/// nullopt if none does.
std::optional<plan::PlanRejection> broken_by_stages(const plan::Job& job,
                                                    const SearchSpaceDimensions& space,
                                                    plan::PlanLegalityRule rule, plan::Plan grid) {
  for (const std::int64_t micro_batch : space.micro_batch) {
    for (const schedule::PipelineScheduleKind kind : space.schedule) {
      for (const schedule::PipelineSchedule& schedule :
           schedule::schedules_of_kind(kind, space.chunks, space.strands)) {
        for (const auto& layers : space.layers) {
          grid.micro_batch = micro_batch;
          grid.schedule = schedule;
          grid.layers = layers;
          if (plan::first_broken_rule(job, grid) == rule)
            return plan::find_plan_rejection(job, grid);
        }
      }
    }
  }
  return std::nullopt;
}

/// Returns a plan of the grid that breaks the rule, by the grid itself or with one kind of other
/// choices; nullopt where no such choice alone breaks it.
std::optional<plan::PlanRejection> broken_in(const plan::Job& job,
                                             const SearchSpaceDimensions& space,
                                             plan::PlanLegalityRule rule, plan::Plan grid) {
  if (plan::first_broken_rule(job, grid) == rule) return plan::find_plan_rejection(job, grid);
  if (auto refused = broken_by_stages(job, space, rule, grid)) return refused;
  for (const plan::Sharding& states : space.sharding) {
    grid.sharding = states;
    for (const auto find : {broken_by_offload, broken_by_stages}) {
      if (auto refused = find(job, space, rule, grid)) return refused;
    }
  }
  return std::nullopt;
}

/// Returns which choices the framework runs, where some plans would be legal without a framework;
/// else nullopt.
std::optional<std::string> left_by_framework(const plan::Job& job,
                                             const SearchSpaceDimensions& space,
                                             const LegalPlanCounter& enumeration) {
  plan::Job any = job;
  any.framework = {};
  const std::int64_t legal = space.framework ? legal_plans(any) : 0;
  if (legal == 0) return std::nullopt;
  std::vector<std::string> runs;
  for (const PlanRefusalCount& refusal : framework_refusals(space, enumeration))
    runs.push_back(refusal.reason);
  // Another batch may leave plans that the framework runs.
  std::vector<LegalChange> remedies = another_batch(job);
  remedies.push_back({"no framework", legal});
  return fmt::format("framework: {}; {}", fmt::join(runs, ", "), advice(job, std::move(remedies)));
}

/// Names the rule that refuses the plans that pass most rules, and changes that would leave legal
/// plans.
std::string farthest(const plan::Job& job, const SearchSpaceDimensions& space,
                     const LegalPlanCounter& enumeration) {
  if (const auto text = left_by_framework(job, space, enumeration)) return *text;
  if (enumeration.example_plan_per_broken_rule().empty()) return "it has no points";
  const auto& [rule, example] = *enumeration.example_plan_per_broken_rule().rbegin();
  const auto refused = broken_in(job, space, rule, example);
  const std::string reason =
      refused ? refused->message
              : fmt::format("{}: {}", plan::plan_rule_name(rule), plan::plan_rule_sentence(rule));
  const bool of_batch =
      rule >= plan::PlanLegalityRule::kBatchDivides && rule <= plan::PlanLegalityRule::kStepPasses;
  return fmt::format("{}; {}", reason,
                     advice(job, of_batch ? another_batch(job) : std::vector<LegalChange>()));
}

}  // namespace

std::string explain_empty_search_space(const plan::Job& job) {
  const SearchSpaceDimensions space = search_space_dimensions(job);
  const LegalPlanCounter enumeration(job, space);
  return enumeration.legal() == 0 ? explain_empty_search_space(job, enumeration) : "";
}

std::string explain_empty_search_space(const plan::Job& job, const LegalPlanCounter& enumeration) {
  std::vector<std::string> reasons;
  plan::Job rest = job;
  for (const plan::PlanRejection& refused : plan::illegal_job_reasons(job)) {
    reasons.push_back(refused.message);
    rest = mended(std::move(rest), refused.rule);
  }
  const SearchSpaceDimensions space = search_space_dimensions(rest);
  const LegalPlanCounter left(rest, space);
  if (left.legal() == 0) reasons.push_back(farthest(rest, space, left));
  return fmt::format("the search space is empty: none of its {} plans is legal; {}",
                     format_count(enumeration.total()), fmt::join(reasons, "; and "));
}

}  // namespace stepwright::tune
