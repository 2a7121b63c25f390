#include "stepwright/tune/best_plans.h"

#include <algorithm>

namespace stepwright {

void BestPlans::offer(double key, const Plan& plan, const Price& price) {
  if (key > threshold()) {
    dropped_bound_ = std::min(dropped_bound_, price.lower_bound_s);
    return;
  }
  insert({key, plan_text(plan), plan, price});
}

void BestPlans::insert(Candidate&& candidate) {
  list_.insert(std::upper_bound(list_.begin(), list_.end(), candidate, before),
               std::move(candidate));
  if (list_.size() <= most_) return;
  dropped_bound_ = std::min(dropped_bound_, list_.back().price.lower_bound_s);
  list_.pop_back();
}

void BestPlans::merge(BestPlans&& other) {
  dropped_bound_ = std::min(dropped_bound_, other.dropped_bound_);
  for (Candidate& candidate : other.list_) insert(std::move(candidate));
}

}  // namespace stepwright
