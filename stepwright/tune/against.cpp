#include "stepwright/tune/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/parallel.h"
#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/tune/differences.h"
#include "stepwright/tune/evaluation.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/tune_json.h"
#include "stepwright/tune/why.h"

namespace stepwright::tune {
namespace {

/// Copies one choice of the best plan into a plan.
using Take = std::function<void(plan::Plan& plan, const plan::Plan& best)>;

/// Returns a copying function for each choice of a kind (`taken`). The data degree has none: it
/// follows from the other degrees and the devices.
std::vector<Take> takes(plan::PlanChoiceAdoption taken) {
  std::vector<Take> all;
  plan::each_choice([&](const auto& choice) {
    using Kind = plan::KindOf<decltype(choice)>;
    if (choice.traits.taken != taken) return;
    if constexpr (std::is_same_v<Kind, plan::OverlapFlags>) {
      for (const auto& entry : plan::kOverlapFlagNames) {
        all.emplace_back([flag = entry.value](plan::Plan& plan, const plan::Plan& best) {
          plan.overlap.*flag = best.overlap.*flag;
        });
      }
    } else if constexpr (std::is_same_v<Kind, schedule::PipelineScheduleKind>) {
      all.emplace_back(
          [](plan::Plan& plan, const plan::Plan& best) { plan.schedule = best.schedule; });
    } else {
      all.emplace_back([&choice](plan::Plan& plan, const plan::Plan& best) {
        choice.of(plan) = choice.of(best);
      });
    }
  });
  return all;
}

std::vector<Take> flags() { return takes(plan::PlanChoiceAdoption::kFlag); }

std::vector<Take> layouts() { return takes(plan::PlanChoiceAdoption::kLayout); }

/// Returns those of `takes` that would change the plan.
std::vector<Take> open_of(const std::vector<Take>& takes, const plan::Plan& plan,
                          const plan::Plan& best) {
  std::vector<Take> open;
  std::ranges::copy_if(takes, std::back_inserter(open), [&](const Take& take) {
    plan::Plan changed = plan;
    take(changed, best);
    return changed != plan;
  });
  return open;
}

/// Returns the first layer and the number of layers of each chunk of each pipeline position.
std::vector<std::pair<std::int64_t, std::int64_t>> layers_held(const plan::Job& job,
                                                               const plan::Plan& plan) {
  const std::vector<std::int64_t> split = plan::layers_per_chunk(job, plan);
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  std::vector<std::pair<std::int64_t, std::int64_t>> held;
  for (std::int64_t position = 0; position < placement.positions(); ++position) {
    for (std::int64_t chunk = 0; chunk < placement.chunks(); ++chunk) {
      const auto end = split.begin() + placement.model_chunk_index({position, chunk});
      held.emplace_back(std::accumulate(split.begin(), end, std::int64_t{0}), *end);
    }
  }
  return held;
}

/// True if a change gives some rank another part of the model.
bool moves_model(const plan::Job& job, const plan::Plan& before, const plan::Plan& after) {
  return before.parallel != after.parallel || !(before.rank_order == after.rank_order) ||
         layers_held(job, before) != layers_held(job, after);
}

/// Returns a plan after the given fields are set; nullopt where these fields alone do not make a
/// valid plan.
std::optional<plan::Plan> with_set(const plan::Job& job, const plan::Plan& plan,
                                   const std::vector<std::string>& fields) {
  try {
    plan::Plan changed = plan::plan_with_fields({job, plan}, fields).plan;
    if (!plan::first_broken_rule(job, changed)) return changed;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
  }
  return std::nullopt;
}

/// True if a framework runs every choice of a canonical plan, except choices of `other` that it
/// does not run either.
bool runs_as_far_as(const plan::FrameworkSupport& law, const plan::Job& job, const plan::Plan& plan,
                    const plan::Plan& other) {
  if (law.with_framework_bucket_sizes(job, other) == other &&
      law.with_framework_bucket_sizes(job, plan) != plan)
    return false;
  const auto refused = [&](plan::FrameworkProperty ability, const plan::Plan& of) {
    return plan::property_values_of_plan(ability, job, of) &
           ~law.supported_property_words(ability, job, of);
  };
  return std::ranges::all_of(plan::kAbilityNames, [&](const Named<plan::FrameworkProperty>& entry) {
    const plan::FrameworkProperty ability = entry.value;
    return ability == plan::FrameworkProperty::kAttention ||
           law.supports_plan(ability, job, plan) ||
           (refused(ability, plan) & ~refused(ability, other)).none();
  });
}

/// Finds the changes from a plan to the best plan, one by one.
class PathToBest {
 public:
  PathToBest(const TuneResult& result, const plan::Plan& own, int threads)
      : job_(result.job),
        best_(result.plans.front()),
        cost_(job_),
        pricer_(job_, cost_),
        space_(search_space_dimensions(job_)),
        threads_(threads),
        plan_(own),
        at_(played(own)) {}

  [[nodiscard]] const TunedPlan& at() const { return at_; }
  [[nodiscard]] bool arrived() const {
    return at_.fits && at_.step_time_s <= best_.step_time_s * (1 + kMinProposedPlanSaving);
  }

  /// Returns the change that gains most, of the cheapest kind of change that has one worth making.
  PlanChange next() {
    for (const auto& stay : {&PathToBest::single_flags, &PathToBest::pairs_of_flags}) {
      if (std::optional<PlanChange> change = fastest((this->*stay)(), false)) return *change;
    }
    for (const auto& move : {&PathToBest::new_layouts, &PathToBest::layouts_with_all_flags}) {
      if (std::optional<PlanChange> change = fastest((this->*move)(), true)) return *change;
    }
    return taken(best_.plan, best_);
  }

 private:
  /// Simulates a plan as it is written, as `predict` does.
  [[nodiscard]] TunedPlan played(const plan::Plan& plan) {
    const plan::Plan same = plan::canonical_plan(plan, job_);
    return played(plan, same, pricer_.price(same));
  }

  [[nodiscard]] TunedPlan played(const plan::Plan& plan, const plan::Plan& same,
                                 const simulate::PlanPrice& price) const {
    TunedPlan tuned = simulate_plan(job_, cost_, plan, price);
    tuned.plan = same;
    return tuned;
  }

  std::vector<plan::Plan> single_flags() const {
    std::vector<plan::Plan> plans;
    for (const Take& take : open_of(flags(), plan_, best_.plan)) {
      plan::Plan& changed = plans.emplace_back(plan_);
      take(changed, best_.plan);
    }
    return plans;
  }

  std::vector<plan::Plan> pairs_of_flags() const {
    std::vector<plan::Plan> plans;
    const std::vector<Take> open = open_of(flags(), plan_, best_.plan);
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        plan::Plan& changed = plans.emplace_back(plan_);
        open[i](changed, best_.plan);
        open[j](changed, best_.plan);
      }
    }
    return plans;
  }

  /// Returns a plan for every set of layout choices of the best plan, put on top of `base`; the
  /// data degree fills the devices.
  [[nodiscard]] std::vector<plan::Plan> layouts_on(const plan::Plan& base) const {
    std::vector<plan::Plan> plans;
    const std::vector<Take> open = open_of(layouts(), base, best_.plan);
    for (std::size_t chosen = 1; chosen < std::size_t{1} << open.size(); ++chosen) {
      plan::Plan changed = base;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if ((chosen >> i & 1) != 0) open[i](changed, best_.plan);
      }
      plan::ParallelismDegrees& degrees = changed.parallel;
      degrees.data = job_.cluster.devices() / (degrees.tensor * degrees.context * degrees.pipeline);
      plans.push_back(changed);
    }
    return plans;
  }

  /// Returns `layouts_on` the present plan, and the sets of flags that give pipeline positions
  /// other layers.
  std::vector<plan::Plan> new_layouts() const {
    std::vector<plan::Plan> plans = layouts_on(plan_);
    for (const std::vector<plan::Plan>& flags : {single_flags(), pairs_of_flags()}) {
      plans.insert(plans.end(), flags.begin(), flags.end());
    }
    return plans;
  }

  std::vector<plan::Plan> layouts_with_all_flags() const {
    plan::Plan base = plan_;
    for (const Take& take : flags()) take(base, best_.plan);
    std::vector<plan::Plan> plans = layouts_on(base);
    plans.push_back(base);
    return plans;
  }

  /// Makes a proposed plan legal if it can. Returns false where it stays illegal, where the
  /// framework does not run one of its new choices, where it moves the model though `may_move` is
  /// false, or where bounds say that it is not worth a change.
  bool settle_proposal(plan::Plan& plan, simulate::PlanPrice& price, bool may_move) {
    if (plan::first_broken_rule(job_, plan)) {
      plan::adapt_dependent_choices(job_, plan);
      if (plan::first_broken_rule(job_, plan)) return false;
    }
    if (!may_move && moves_model(job_, plan_, plan)) return false;
    const plan::Plan same = plan::canonical_plan(plan, job_);
    if (!framework_supports_plan_unchanged(job_, space_, same) &&
        !(space_.framework &&
          runs_as_far_as(*space_.framework, job_, same, plan::canonical_plan(plan_, job_)))) {
      return false;
    }
    price = pricer_.price(same);
    return price.lower_bound_s < worth_s();
  }

  /// Returns the step time that a plan must beat to be worth a change.
  [[nodiscard]] double worth_s() const {
    if (!at_.fits) return std::numeric_limits<double>::infinity();
    return at_.step_time_s - kMinProposedPlanSaving * best_.step_time_s;
  }

  /// Changes the present plan to the fastest proposal that fits and is worth it; nullopt when there
  /// is none.
  std::optional<PlanChange> fastest(std::vector<plan::Plan> proposals, bool may_move) {
    std::map<plan::Plan, std::pair<plan::Plan, simulate::PlanPrice>> fresh;
    for (plan::Plan& plan : proposals) {
      simulate::PlanPrice price;
      if (settle_proposal(plan, price, may_move)) {
        fresh.try_emplace(plan::canonical_plan(plan, job_), plan, price);
      }
    }
    std::vector<std::pair<plan::Plan, simulate::PlanPrice>> open;
    for (auto& [usual, one] : fresh) open.push_back(std::move(one));
    std::vector<TunedPlan> reached(open.size());
    parallel_for(threads_, open.size(), [&](std::size_t i) {
      const plan::Plan& plan = open[i].first;
      reached[i] = played(plan, plan::canonical_plan(plan, job_), open[i].second);
    });
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (!reached[i].fits || !(reached[i].step_time_s < worth_s())) continue;
      if (!found || reached[i].step_time_s < reached[*found].step_time_s) found = i;
    }
    if (!found) return std::nullopt;
    return taken(open[*found].first, reached[*found]);
  }

  /// Returns the fewest fields that lead from the present plan to `plan`, and sets `plan` to the
  /// plan that they make. A choice on which nothing depends stays as the person wrote it.
  std::vector<std::string> needed_fields(plan::Plan& plan, const TunedPlan& reached) {
    std::vector<std::string> fields = differing_plan_fields(job_, plan_, plan);
    for (std::size_t i = fields.size(); i-- > 0 && fields.size() > 1;) {
      std::vector<std::string> others = fields;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const std::optional<plan::Plan> without = with_set(job_, plan_, others);
      if (!without || plan::canonical_plan(*without, job_) != reached.plan) continue;
      if (played(*without).step_time_s != reached.step_time_s) continue;
      fields = std::move(others);
      plan = *without;
    }
    return fields;
  }

  /// Leaves to later changes those flags of this change without which it still is legal, runs, fits
  /// and is worth it.
  void put_off_flags(plan::Plan& plan, TunedPlan& reached) {
    for (const Take& take : flags()) {
      plan::Plan without = plan;
      take(without, plan_);
      simulate::PlanPrice price;
      if (without == plan || plan::first_broken_rule(job_, without)) continue;
      if (!settle_proposal(without, price, true)) continue;
      const plan::Plan same = plan::canonical_plan(without, job_);
      if (same == reached.plan || same == plan::canonical_plan(plan_, job_)) continue;
      const TunedPlan played_without = played(without, same, price);
      if (!played_without.fits || !(played_without.step_time_s < worth_s())) continue;
      plan = without;
      reached = played_without;
    }
  }

  PlanChange taken(plan::Plan plan, TunedPlan reached) {
    put_off_flags(plan, reached);
    std::vector<std::string> fields = needed_fields(plan, reached);
    PlanChange change{
        .kind = moves_model(job_, plan_, plan) ? PlanChangeKind::kLayout : PlanChangeKind::kFlag,
        .set = std::move(fields),
        .reached = reached,
        .gain_s = at_.step_time_s - reached.step_time_s};
    plan_ = plan;
    at_ = reached;
    return change;
  }

  const plan::Job& job_;
  const TunedPlan& best_;
  cost::CostModel cost_;
  simulate::PlanPricer pricer_;
  SearchSpaceDimensions space_;
  int threads_;
  /// The present plan as written, so that the fields to set are exactly the differences from
  /// the person's file.
  plan::Plan plan_;
  TunedPlan at_;
};

/// Starts the list of changes with the attention kernel of the person's plan. Where the plan does
/// not fit with it, the change that makes it fit also switches the kernel.
void begin_with(UserPlanComparison& found, const TuneResult& result,
                cluster::AttentionKernel attention) {
  plan::Job job = result.job;
  job.kernels.attention = attention;
  const TunedPlan with_other = found.own;
  if (plan::find_plan_rejection(job, with_other.plan)) return;
  const cost::CostModel cost(job);
  found.own = simulate_plan(job, cost, with_other.plan,
                            simulate::PlanPricer(job, cost).price(with_other.plan));
  const double gain_s = found.own.step_time_s - with_other.step_time_s;
  const std::string set =
      fmt::format("kernels.attention={}",
                  name_of(cluster::kAttentionKernelNames, result.job.kernels.attention));
  if (!with_other.fits && !found.changes.empty()) {
    found.changes.front().set.insert(found.changes.front().set.begin(), set);
    found.changes.front().gain_s += gain_s;
  } else {
    found.changes.insert(found.changes.begin(),
                         {.set = {set}, .reached = with_other, .gain_s = gain_s});
  }
}

}  // namespace

UserPlanComparison compare_user_plan(const TuneResult& result, const plan::Plan& own,
                                     const TuneOptions& options,
                                     std::optional<cluster::AttentionKernel> attention) {
  if (const auto refused = plan::find_plan_rejection(result.job, own))
    plan::fail_rejected_plan(*refused);
  const TunedPlan& best = result.plans.front();
  PathToBest path(result, own, search_thread_count(options));
  UserPlanComparison found{.own = path.at(), .changes = {}};
  while (best.fits && !path.arrived()) found.changes.push_back(path.next());
  if (attention && *attention != result.job.kernels.attention) {
    begin_with(found, result, *attention);
  }
  found.own.lost = reason_plan_is_slower(best, found.own);
  if (found.own.lost.empty() && !found.changes.empty()) {
    found.own.lost = fmt::format("{} slower with another kernel of attention",
                                 format_time(found.changes.front().gain_s));
  }
  return found;
}

nlohmann::ordered_json user_plan_comparison_json(const TuneResult& result,
                                                 const UserPlanComparison& against,
                                                 const FrameworksRunningPlan& started_by) {
  nlohmann::ordered_json out = tuned_plan_json(result, against.own, started_by);
  nlohmann::ordered_json& list = out["changes"] = nlohmann::ordered_json::array();
  for (const PlanChange& change : against.changes) {
    list.push_back(
        {{"set", change.set},
         {"step_time_s", change.reached.step_time_s},
         {"gain_s", change.gain_s},
         {"kind", name_of(kChangeKindNames, change.kind)},
         {"peak_memory_bytes", static_cast<std::int64_t>(change.reached.peak_memory_bytes)}});
  }
  return out;
}

}  // namespace stepwright::tune
