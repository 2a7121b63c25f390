#include "stepwright/tune/best_plans.h"

#include <algorithm>
#include <utility>

namespace stepwright::tune {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
/// Most open plans kept; half as many are more than `narrow` looks at. Every search unit in
/// progress may hold as many.
constexpr std::size_t kMostOpen = 2'000;

}  // namespace

BestPlanCandidates::BestPlanCandidates(std::size_t most, const BestPlanCandidates* all)
    : most_(most),
      limit_(all ? all->largest_key_of_kept_candidates() : kNone),
      best_(all ? all->best_ : kNone),
      fitting_s_(all ? all->fitting_s_ : 0) {}

double BestPlanCandidates::largest_key_of_kept_candidates() const {
  return list_.size() < most_ ? limit_ : std::min(limit_, list_.back().key);
}

void BestPlanCandidates::offer(double key, const plan::Plan& plan,
                               const simulate::PlanPrice& price) {
  best_ = std::min(best_, key);
  if (key > largest_key_of_kept_candidates()) return record_left_out_plan(plan, price);
  insert({key, plan, price});
}

void BestPlanCandidates::insert(PlanCandidate&& candidate) {
  list_.insert(std::upper_bound(list_.begin(), list_.end(), candidate, before),
               std::move(candidate));
  if (list_.size() <= most_) return;
  record_left_out_plan(list_.back().plan, list_.back().price);
  list_.pop_back();
}

void BestPlanCandidates::record_left_out_plan(const plan::Plan& plan,
                                              const simulate::PlanPrice& price) {
  if (price.lower_bound_s >= lower_bound_to_reconsider_plan_s()) {
    dropped_bound_ = std::min(dropped_bound_, price.lower_bound_s);
    return;
  }
  if (open_.size() == kMostOpen) close(kMostOpen / 2);
  open_.push_back({.key = price.seconds, .plan = plan, .price = price});
}

/// Drops open plans that are no longer open, and keeps at most `most`, those with the least bounds.
void BestPlanCandidates::close(std::size_t most) {
  std::ranges::stable_sort(open_, {},
                           [](const PlanCandidate& one) { return one.price.lower_bound_s; });
  const auto first = std::ranges::find_if(open_, [&](const PlanCandidate& one) {
    return one.price.lower_bound_s >= lower_bound_to_reconsider_plan_s();
  });
  const std::size_t left = std::min(most, static_cast<std::size_t>(first - open_.begin()));
  if (left == open_.size()) return;
  dropped_bound_ = std::min(dropped_bound_, open_[left].price.lower_bound_s);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(left), open_.end());
}

void BestPlanCandidates::merge(BestPlanCandidates&& other) {
  best_ = std::min(best_, other.best_);
  dropped_bound_ = std::min(dropped_bound_, other.dropped_bound_);
  for (PlanCandidate& candidate : other.list_) insert(std::move(candidate));
  for (const PlanCandidate& candidate : other.open_)
    record_left_out_plan(candidate.plan, candidate.price);
}

}  // namespace stepwright::tune
