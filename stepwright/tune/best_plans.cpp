#include "stepwright/tune/best_plans.h"

#include <algorithm>
#include <utility>

namespace stepwright {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
/// Some megabytes.
constexpr std::size_t kMostOpen = 10'000;

}  // namespace

BestPlans::BestPlans(std::size_t most, const BestPlans* all)
    : most_(most), limit_(all ? all->threshold() : kNone), best_(all ? all->best_ : kNone) {}

double BestPlans::threshold() const {
  return list_.size() < most_ ? limit_ : std::min(limit_, list_.back().key);
}

void BestPlans::offer(double key, const Plan& plan, const Price& price) {
  best_ = std::min(best_, key);
  const bool left_out = key > threshold();
  if (left_out && price.lower_bound_s >= open_below()) {
    dropped_bound_ = std::min(dropped_bound_, price.lower_bound_s);
    return;
  }
  Candidate candidate{key, plan_text(plan), plan, price};
  if (left_out) return drop(std::move(candidate));
  insert(std::move(candidate));
}

void BestPlans::insert(Candidate&& candidate) {
  list_.insert(std::upper_bound(list_.begin(), list_.end(), candidate, before),
               std::move(candidate));
  if (list_.size() <= most_) return;
  drop(std::move(list_.back()));
  list_.pop_back();
}

void BestPlans::drop(Candidate&& candidate) {
  if (candidate.price.lower_bound_s < open_below() && open_.size() < kMostOpen) {
    open_.push_back(std::move(candidate));
  } else {
    dropped_bound_ = std::min(dropped_bound_, candidate.price.lower_bound_s);
  }
}

void BestPlans::merge(BestPlans&& other) {
  best_ = std::min(best_, other.best_);
  dropped_bound_ = std::min(dropped_bound_, other.dropped_bound_);
  for (Candidate& candidate : other.list_) insert(std::move(candidate));
  for (Candidate& candidate : other.open_) drop(std::move(candidate));
}

}  // namespace stepwright
