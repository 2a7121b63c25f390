#include "stepwright/tune/near_keys.h"

#include <iterator>
#include <map>
#include <set>

#include "stepwright/schedule/found/found.h"
#include "stepwright/tune/neighbours.h"

namespace stepwright {
namespace {

/// Plans whose neighbours are priced, the best first.
constexpr int kExpanded = 100;

/// The best plans that were priced, and whether their neighbours were.
class Pool {
 public:
  Pool(const Job& job, const CostModel& cost, const Dimensions& space, const Goal& goal,
       const PriceStore& prices)
      : job_(job), space_(space), goal_(goal), pricer_(job, cost, prices), work_(job, cost) {}

  /// Adds a plan with even layers, and with a balanced split where the space has it.
  void add(const Plan& plan) {
    if (!seen_.insert(plan).second || !is_settled(plan.schedule)) return;
    add(plan, plan);
    if (!balances(job_, space_, plan)) return;
    if (const auto split = with_balanced_split(work_, plan)) add(*split, plan);
  }

  /// Adds the neighbours of the best plan that still lacks them; false where all have theirs.
  bool expand() {
    for (auto& [key, member] : plans_) {
      if (member.expanded) continue;
      member.expanded = true;
      if (!expanded_.insert(member.even).second) continue;
      for (const Plan& plan : neighbours(job_, space_, Plan(member.even))) add(plan);
      return true;
    }
    return false;
  }

  [[nodiscard]] KnownKeys keys() const {
    if (plans_.size() < goal_.keep) return {};
    return {.best = plans_.begin()->first, .last = std::prev(plans_.end())->first};
  }

 private:
  /// Adds a plan where it fits, is one of the space and lowers the last key.
  void add(const Plan& plan, const Plan& even) {
    const Price price = pricer_.price(plan);
    if (!goal_.room.holds(price) || price.seconds >= keys().last) return;
    if (!contains(job_, space_, even)) return;
    plans_.emplace(price.seconds, Member{even});
    if (plans_.size() > goal_.keep) plans_.erase(std::prev(plans_.end()));
  }

  struct Member {
    Plan even;  ///< The plan without its balanced split.
    bool expanded = false;
  };
  const Job& job_;
  const Dimensions& space_;
  const Goal& goal_;
  Pricer pricer_;
  WorkFloor work_;
  std::set<Plan> seen_;
  std::set<Plan> expanded_;
  std::multimap<double, Member> plans_;
};

}  // namespace

KnownKeys near_keys(const Job& job, const CostModel& cost, const Dimensions& space,
                    const std::vector<Plan>& starts, const Goal& goal, const PriceStore& prices) {
  Pool pool(job, cost, space, goal, prices);
  for (Plan start : starts) {
    if (job.space.layers.empty()) start.layers.clear();
    pool.add(start);
  }
  for (int i = 0; i < kExpanded && pool.expand(); ++i) {
  }
  return pool.keys();
}

}  // namespace stepwright
