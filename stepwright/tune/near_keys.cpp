#include "stepwright/tune/near_keys.h"

#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/found/found.h"
#include "stepwright/simulate/price/price_store.h"
#include "stepwright/tune/neighbours.h"

namespace stepwright::tune {
namespace {

/// Number of plans whose neighbours are priced, best first.
constexpr int kExpanded = 100;

/// Number of plans whose neighbours are priced, and of plans that are kept, where one good plan is
/// enough.
constexpr int kExpandedForOne = 12;
constexpr std::size_t kKeptForOne = 4;

/// The best plans priced so far, each with a mark whether its neighbours were priced.
class Pool {
 public:
  Pool(const plan::Job& job, const cost::CostModel& cost, const SearchSpaceDimensions& space,
       const SearchGoal& goal, const simulate::SharedPricerCaches& prices)
      : job_(job), space_(space), goal_(goal), pricer_(job, cost, prices), work_(job, cost) {}

  /// Adds a plan with even layers, and with a balanced split where the space has it.
  void add(const plan::Plan& plan) {
    if (!seen_.insert(plan).second || !schedule::is_schedule_order_decided(plan.schedule)) return;
    add(plan, plan);
    if (!search_tries_balanced_layer_split(job_, space_, plan)) return;
    if (const auto split = with_balanced_layers(work_, plan)) add(*split, plan);
  }

  /// Adds the neighbours of the best plan whose neighbours were not added yet; false if there is
  /// none.
  bool expand() {
    for (auto& [key, member] : plans_) {
      if (member.expanded) continue;
      member.expanded = true;
      if (!expanded_.insert(member.even).second) continue;
      for (const plan::Plan& plan :
           plans_differing_in_one_choice(job_, space_, plan::Plan(member.even)))
        add(plan);
      return true;
    }
    return false;
  }

  [[nodiscard]] KnownPlanKeys keys() const {
    if (plans_.size() < goal_.keep) return {};
    return {.best = nth_best_step_s(), .last = std::prev(plans_.end())->first};
  }

  /// Returns the least price; infinity: no plan fits.
  [[nodiscard]] double nth_best_step_s() const {
    return plans_.empty() ? std::numeric_limits<double>::infinity() : plans_.begin()->first;
  }

 private:
  /// Adds a plan if it fits, is in the space and lowers the last key. `even`: the plan without a
  /// balanced split.
  void add(const plan::Plan& plan, const plan::Plan& even) {
    const simulate::PlanPrice price = pricer_.price(plan);
    if (!goal_.room.fits_in_memory(price) || price.seconds >= keys().last) return;
    if (!is_in_search_space(job_, space_, even)) return;
    plans_.emplace(price.seconds, Member{even});
    if (plans_.size() > goal_.keep) plans_.erase(std::prev(plans_.end()));
  }

  struct Member {
    plan::Plan even;  ///< The plan without its balanced split.
    bool expanded = false;
  };
  const plan::Job& job_;
  const SearchSpaceDimensions& space_;
  const SearchGoal& goal_;
  simulate::PlanPricer pricer_;
  WorkLowerBounds work_;
  std::set<plan::Plan> seen_;
  std::set<plan::Plan> expanded_;
  std::multimap<double, Member> plans_;
};

}  // namespace

KnownPlanKeys min_keys_of_neighbour_plans(const plan::Job& job, const cost::CostModel& cost,
                                          const SearchSpaceDimensions& space,
                                          const std::vector<plan::Plan>& starts,
                                          const SearchGoal& goal,
                                          const simulate::SharedPricerCaches& prices) {
  Pool pool(job, cost, space, goal, prices);
  for (plan::Plan start : starts) {
    if (job.space.layers.empty()) start.layers.clear();
    pool.add(start);
  }
  for (int i = 0; i < kExpanded && pool.expand(); ++i) {
  }
  return pool.keys();
}

double min_step_seconds_of_neighbour_plans(const plan::Job& job, const cost::CostModel& cost,
                                           const SearchSpaceDimensions& space,
                                           const plan::Plan& start,
                                           const simulate::AvailablePlanMemory& room) {
  const SearchGoal goal{.room = room, .keep = kKeptForOne, .known = {}};
  const simulate::SharedPricerCaches prices;
  Pool pool(job, cost, space, goal, prices);
  const plan::Plan inside = move_into_search_space(job, space, start);
  if (plan::first_broken_rule(job, inside)) return std::numeric_limits<double>::infinity();
  pool.add(inside);
  for (int i = 0; i < kExpandedForOne && pool.expand(); ++i) {
  }
  return pool.nth_best_step_s();
}

}  // namespace stepwright::tune
