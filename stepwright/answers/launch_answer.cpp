#include "stepwright/answers/launch_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "stepwright/answers/upkeep.h"
#include "stepwright/core/error.h"
#include "stepwright/core/parallel.h"
#include "stepwright/core/quoting.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/framework_files/starters.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/baseline.h"
#include "stepwright/tune/empty_space.h"
#include "stepwright/tune/leader.h"

namespace stepwright::answers {
namespace {

using framework_files::RoundTripFramework;

/// The most plans of a framework that are exported, best first, to find one that its files start.
constexpr std::size_t kMostWritten = 16;
/// Other plans near the rule-of-thumb plan are priced for frameworks whose step takes at most this
/// multiple of the fastest framework's.
constexpr double kAlike = 1.05;
/// The most plans that are compared by the number of frameworks that start them.
constexpr std::size_t kMostCompared = 4;
constexpr double kNever = std::numeric_limits<double>::infinity();

std::vector<plan::TrainingFramework> starter_frameworks() {
  std::vector<plan::TrainingFramework> frameworks;
  for (const RoundTripFramework& starter :
       framework_files::importable_and_exportable_frameworks()) {
    frameworks.push_back(starter.framework);
  }
  return frameworks;
}

/// Index of a framework in `framework_files::importable_and_exportable_frameworks()`.
std::size_t place_of(const RoundTripFramework& starter) {
  return static_cast<std::size_t>(&starter -
                                  framework_files::importable_and_exportable_frameworks().data());
}

/// Returns the index of the first plan that a framework's files start, among the first `most`;
/// nullopt: none.
std::optional<std::size_t> first_started(const RoundTripFramework& starter,
                                         LaunchablePlans& started,
                                         const std::vector<tune::TunedPlan>& plans,
                                         std::size_t most = kMostWritten) {
  for (std::size_t i = 0; i < std::min(most, plans.size()); ++i) {
    if (started.does_framework_start_plan(place_of(starter), plans[i].plan)) return i;
  }
  return std::nullopt;
}

/// Among the level plans from `place` on that take equal effort to run, finds the one that most
/// frameworks start. Returns its index.
std::size_t most_started(LaunchablePlans& started, const std::vector<tune::TunedPlan>& plans,
                         std::size_t place, std::size_t level) {
  const PlanComplexity least = complexity_of_running_plan(started.job(), plans[place].plan);
  const std::size_t end = std::min(level, place + kMostCompared);
  std::size_t most = started.frameworks_running_exported_plan(plans[place].plan).size();
  for (std::size_t i = place + 1;
       i < end && complexity_of_running_plan(started.job(), plans[i].plan) == least; ++i) {
    const std::size_t here = started.frameworks_running_exported_plan(plans[i].plan).size();
    if (here > most) {
      most = here;
      place = i;
    }
  }
  return place;
}

/// Returns the feature of a job that its framework cannot run with any plan; empty: there is none.
std::string job_refusal(const plan::Job& job) {
  const plan::FrameworkSupport law(job.framework);
  for (const auto& [ability, name] : plan::kAbilityNames) {
    const bool of_job = !plan::of_plan(ability) && ability != plan::FrameworkProperty::kAttention;
    if (of_job && !law.supports_plan(ability, job, {}))
      return law.supported_property_values_sentence(ability);
  }
  return "";
}

/// A framework to be searched, and an estimate of its step time.
struct Turn {
  const RoundTripFramework* starter;
  /// Step time of a plan near a good one that the framework's files start; kNever: none is known.
  double near_s;
  /// The plan whose step takes `near_s`, if any.
  plan::Plan near{};
  /// True if `near_s` is close to the best of all frameworks and the plans near it are not priced
  /// yet.
  bool alike = false;

  [[nodiscard]] std::string_view name() const { return starter->framework.name; }
  [[nodiscard]] bool is_variant() const { return !starter->framework.variant.empty(); }
  /// Returns the framework on which this one is based, if both store gradients in types alike, so
  /// that plans fit both or none; else the framework itself.
  [[nodiscard]] std::string_view base() const {
    const std::string_view base = plan::base_framework(starter->framework);
    const auto stores = [](const plan::TrainingFramework& framework) {
      return plan::framework_defaults(framework).stored_gradients;
    };
    return stores({.name = std::string(base)}) == stores(starter->framework) ? base : name();
  }
};

class LaunchSearch {
 public:
  LaunchSearch(const plan::Job& job, const ReadJobForFramework& job_for,
               const SearchPlansOfJob& search, const tune::TuneOptions& options)
      : job_(job), job_for_(job_for), search_(search), options_(options) {
    quick_.threads = options.threads;
    quick_.conditions = options.conditions;
    quick_.top = 1;
  }

  /// Answers for the framework that the job names. If it names none, searches freely and takes any
  /// framework whose files start the first plan.
  LaunchablePlanAnswer of_named() {
    answer_.job = job_;
    answer_.result = search_(job_);
    answer_.started = LaunchablePlans(answer_.result.job);
    if (job_.framework.name.empty()) {
      const std::vector<tune::TunedPlan> first = {answer_.result.plans.front()};
      for (const RoundTripFramework& starter :
           framework_files::importable_and_exportable_frameworks()) {
        if (answer_.launch || !may_run(first)) break;
        if (first_started(starter, answer_.started, first)) answer_.launch = launch_of(starter);
      }
      return std::move(answer_);
    }
    std::vector<const RoundTripFramework*> starters;
    for (const RoundTripFramework& starter :
         framework_files::importable_and_exportable_frameworks()) {
      const std::string& variant = starter.framework.variant;
      if (starter.framework.name != job_.framework.name) continue;
      if (variant.empty() || variant == job_.framework.variant) starters.push_back(&starter);
    }
    // The files of the variant that the job names come before those of its base framework.
    std::ranges::stable_sort(starters, std::ranges::greater(), [](const RoundTripFramework* one) {
      return !one->framework.variant.empty();
    });
    for (const RoundTripFramework* starter : starters) {
      if (lead(*starter, answer_.result, answer_.started)) {
        answer_.launch = launch_of(*starter);
        answer_.refusals.clear();
        break;
      }
      note_refusal(*starter, job_, {answer_.result.job, answer_.result.plans});
    }
    const std::string& name = job_.framework.name;
    if (!answer_.launch && answer_.refusals.empty() && name != "stepwright") {
      answer_.refusals.push_back(fmt::format("{}: no files of it are written", name));
    }
    return std::move(answer_);
  }

  /// Answers for the framework whose files start the fastest plan. Another framework replaces the
  /// first one found only if it is faster by more than `kEqualStepTolerance`. Further frameworks
  /// are searched only if they start a faster plan near the answer's, or if a plan without
  /// framework limits is faster.
  LaunchablePlanAnswer of_any() {
    std::vector<Turn> turns = all_turns();
    auto next = turns.begin();
    while (next != turns.end() && !answer_.launch) try_framework(*next++);
    if (!answer_.launch) {
      answer_.job = job_;
      answer_.result = search_(job_);
      answer_.started = LaunchablePlans(answer_.result.job);
      return std::move(answer_);
    }
    answer_.refusals.clear();
    if (answer_.result.job.objective.kind == plan::TunerObjectiveKind::kSmallestCluster) {
      return std::move(answer_);
    }
    const tune::FasterPlans free = tune::find_faster_plans(job_, wanted_s(), quick_);
    const double least_s = free.plans.empty() ? kNever : free.plans.front().step_time_s;
    mark_near(turns, answer_.started, answer_.result.plans.front().plan);
    for (; next != turns.end(); ++next) {
      // Frameworks with the same base run alike, so the promise of the free plan is tried once for
      // each base.
      const bool known = searched_.contains(next->base());
      const double least_here_s = known ? kNever : least_s;
      if (std::min(least_here_s, next->near_s) >= wanted_s()) price_near({next, turns.end()});
      if (std::min(least_here_s, next->near_s) < wanted_s()) try_framework(*next);
    }
    if (least_s < wanted_s()) set_unbound(free);
    return std::move(answer_);
  }

 private:
  /// True if the best of some plans fits or is tight.
  static bool may_run(const std::vector<tune::TunedPlan>& plans) {
    return plans.front().verdict != memory::MemoryFitVerdict::kDoesNotFit;
  }

  static FrameworkLaunch launch_of(const RoundTripFramework& starter) {
    return {std::string(starter.framework_or_variant_name()), std::string(starter.target)};
  }

  /// Moves one plan to the front: among the plans that the framework's files start and that are
  /// level with the fastest, the one that takes the least effort to run. Drops the faster plans
  /// that cannot be started. Returns the time of the fastest started plan; nullopt: the files start
  /// none.
  std::optional<double> lead(const RoundTripFramework& starter, tune::TuneResult& result,
                             LaunchablePlans& started) const {
    if (!may_run(result.plans)) return std::nullopt;
    std::vector<tune::TunedPlan>& plans = result.simulated;
    const auto fastest = first_started(starter, started, plans);
    if (!fastest) return std::nullopt;
    plans.erase(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(*fastest));
    const double fastest_s = plans.front().step_time_s;
    const std::size_t level = move_simplest_of_fastest_plans_first(result.job, plans);
    const std::size_t place = first_started(starter, started, plans, level).value();
    tune::move_plan_to_first_place(result, most_started(started, plans, place, level),
                                   options_.top);
    return fastest_s;
  }

  /// Returns the frameworks, the likely fastest first, judged by the plan that they start instead
  /// of the rule-of-thumb plan. Variants of a framework follow it.
  [[nodiscard]] std::vector<Turn> all_turns() const {
    std::vector<Turn> turns;
    for (const RoundTripFramework& starter :
         framework_files::importable_and_exportable_frameworks())
      turns.push_back({&starter, kNever});
    const auto rule =
        tune::rule_of_thumb_plan(job_, cost::CostModel(job_), simulate::plan_memory_limit(job_));
    if (!rule) return turns;
    LaunchablePlans started(job_);
    mark_near(turns, started, rule->plan);
    price_near(turns);
    const double least_s = std::ranges::min(turns, {}, &Turn::near_s).near_s;
    const auto levelled = [&](double seconds) {
      return seconds * (1 - kEqualStepTolerance) < least_s ? least_s : seconds;
    };
    // For each framework: the smallest time of its variants, and the index of the first variant.
    std::map<std::string_view, std::pair<double, std::size_t>> frameworks;
    for (const Turn& turn : turns) {
      const std::pair own(levelled(turn.near_s), place_of(*turn.starter));
      auto& first = frameworks.try_emplace(turn.name(), own).first->second;
      first.first = std::min(first.first, own.first);
    }
    std::ranges::stable_sort(turns, {}, [&](const Turn& turn) {
      return std::tuple(frameworks[turn.name()], turn.is_variant(), levelled(turn.near_s));
    });
    return turns;
  }

  /// Records for each framework the plan that it starts near a given one.
  void mark_near(std::vector<Turn>& turns, LaunchablePlans& started, const plan::Plan& plan) const {
    const std::vector<tune::NearestFrameworkPlan>& runs =
        find_launchable_plans(started, plan, tune::search_thread_count(options_));
    for (Turn& turn : turns) {
      const tune::NearestFrameworkPlan& run = runs[place_of(*turn.starter)];
      turn.near_s = run.plan && run.fits ? run.step_time_s : kNever;
      if (turn.near_s != kNever) turn.near = *run.plan;
    }
    if (turns.empty()) return;
    const double least_s = std::ranges::min(turns, {}, &Turn::near_s).near_s;
    for (Turn& turn : turns) turn.alike = turn.near_s != kNever && turn.near_s <= kAlike * least_s;
  }

  /// Prices the plans near those of frameworks that are marked as close to the best.
  void price_near(std::span<Turn> turns) const {
    parallel_for(tune::search_thread_count(options_), turns.size(), [&](std::size_t i) {
      Turn& turn = turns[i];
      if (!std::exchange(turn.alike, false)) return;
      std::string refusal;
      const std::optional<plan::Job> job = job_of(*turn.starter, refusal);
      if (!job || !job_refusal(*job).empty()) return;
      turn.near_s =
          std::min(turn.near_s, tune::step_seconds_likely_found_by_search(*job, turn.near));
    });
  }

  /// Returns the step time that another plan must beat to replace the answer.
  [[nodiscard]] double wanted_s() const { return (1 - kEqualStepTolerance) * fastest_s_; }

  /// Reads the job for a framework, with the kernels that its files start; nullopt, with the reason
  /// in `refusal`: the framework lacks a feature of the job.
  std::optional<plan::Job> job_of(const RoundTripFramework& starter, std::string& refusal) const {
    try {
      plan::Job job = job_for_(std::string(starter.framework_or_variant_name()));
      job.use_all = job.use_all || job_.use_all;
      job.kernels = plan::configured_kernels(job);
      return job;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kRuntime) throw;
      refusal = fmt::format("{}: {}", starter.framework_or_variant_name(), error.what());
      return std::nullopt;
    }
  }

  void try_framework(const Turn& turn) {
    const RoundTripFramework& starter = *turn.starter;
    std::string refusal;
    const std::optional<plan::Job> job = job_of(starter, refusal);
    if (!job) return answer_.refusals.push_back(std::move(refusal));
    if (const std::string why = job_refusal(*job); !why.empty()) {
      answer_.refusals.push_back(fmt::format("{}: {}", starter.framework_or_variant_name(), why));
      return;
    }
    if (answer_.launch || turn.near_s == kNever) {
      const tune::FasterPlans faster = tune::find_faster_plans(*job, wanted_s(), quick_);
      if (faster.plans.empty()) note_searched(turn);
      LaunchablePlans started(faster.job);
      if (!first_started(starter, started, faster.plans)) {
        return note_refusal(starter, *job, faster);
      }
    }
    tune::TuneResult result;
    try {
      result = search_(*job);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInput) throw;
      // The job allows no plan with this framework.
      return note_refusal(starter, *job, {*job, {}});
    }
    LaunchablePlans started(result.job);
    const std::optional<double> fastest_s = lead(starter, result, started);
    if (!fastest_s) return note_refusal(starter, *job, {result.job, result.plans});
    note_searched(turn);
    if (*fastest_s >= wanted_s()) return;
    fastest_s_ = *fastest_s;
    answer_.job = *job;
    answer_.launch = launch_of(starter);
    answer_.result = std::move(result);
    answer_.started = std::move(started);
  }

  /// Records that a framework has no faster plan. Only a base framework is recorded, because a
  /// variant tells nothing about others.
  void note_searched(const Turn& turn) {
    if (!turn.is_variant() && turn.name() == turn.base()) searched_.insert(turn.base());
  }

  /// Records why a framework starts no plan, judged by the best plans found for it.
  void note_refusal(const RoundTripFramework& starter, const plan::Job& job,
                    const tune::FasterPlans& found) {
    if (answer_.launch) return;
    std::string why;
    if (found.plans.empty()) {
      why = tune::explain_empty_search_space(job);
    } else if (may_run(found.plans)) {
      why = framework_files::plan_not_run_unchanged_reason(starter,
                                                           {found.job, found.plans.front().plan});
    }
    if (why.empty()) why = "no plan that it runs fits";
    answer_.refusals.push_back(fmt::format("{}: {}", starter.framework_or_variant_name(), why));
  }

  /// Stores the fastest plan without framework limits, unless a framework starts it after all.
  void set_unbound(const tune::FasterPlans& free) {
    const tune::TunedPlan& fastest = free.plans.front();
    const plan::PlannedJob planned{free.job, fastest.plan};
    if (!framework_files::framework_names_running_plan(planned).empty()) return;
    const auto starter =
        std::ranges::find_if(framework_files::importable_and_exportable_frameworks(),
                             [&](const RoundTripFramework& one) {
                               return one.framework_or_variant_name() == answer_.launch->framework;
                             });
    answer_.unbound = {free.job, fastest,
                       framework_files::plan_not_run_unchanged_reason(*starter, planned)};
  }

  const plan::Job& job_;
  const ReadJobForFramework& job_for_;
  const SearchPlansOfJob& search_;
  const tune::TuneOptions& options_;
  tune::TuneOptions quick_;
  double fastest_s_ = kNever;  ///< Fastest step among the plans that the answer's framework starts.
  /// Base frameworks that have no plan faster than the answer's.
  std::set<std::string_view> searched_;
  LaunchablePlanAnswer answer_;
};

}  // namespace

std::string FrameworkLaunch::command(const std::string& plan_file) const {
  return fmt::format("stepwright export --to {} --plan {}", target,
                     plan_file.empty() ? "plan.yaml" : quoted_for_shell(plan_file));
}

LaunchablePlanAnswer choose_framework_to_launch(const plan::Job& job,
                                                const ReadJobForFramework& job_for,
                                                const SearchPlansOfJob& search,
                                                const tune::TuneOptions& options) {
  LaunchSearch launch(job, job_for, search, options);
  return job.framework.name.empty() && job_for ? launch.of_any() : launch.of_named();
}

const std::vector<tune::NearestFrameworkPlan>& find_launchable_plans(LaunchablePlans& started,
                                                                     const plan::Plan& plan,
                                                                     int threads) {
  static const std::vector<plan::TrainingFramework> kFrameworks = starter_frameworks();
  if (const auto* known = started.cached_nearest_framework_plans(plan)) return *known;
  std::vector<tune::NearestFrameworkPlan> runs =
      tune::nearest_framework_plans(started.job(), plan, kFrameworks, threads);
  std::vector<std::optional<plan::Plan>> plans(runs.size());
  std::ranges::transform(runs, plans.begin(), &tune::NearestFrameworkPlan::plan);
  started.export_plans_into_cache(plans, threads);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].plan && !started.does_framework_start_plan(i, *runs[i].plan)) runs[i].plan.reset();
  }
  return started.cache_nearest_framework_plans(plan, std::move(runs));
}

}  // namespace stepwright::answers
