#include "stepwright/plan/laws/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "stepwright/plan/choices/changes.h"

namespace stepwright::plan {

namespace {

/// Sets a degree so that the ranks fill the cluster; returns false if no degree does.
bool absorb(const Job& job, Plan& plan, PlanNumber knob) {
  std::int64_t& size = knob(plan);
  size = 1;
  const ParallelismDegrees& degrees = plan.parallel;
  std::int64_t rest = job.cluster.devices();
  for (const std::int64_t other :
       {degrees.tensor, degrees.context, degrees.data, degrees.pipeline}) {
    if (rest % other != 0) return false;
    rest /= other;
  }
  size = rest;
  return true;
}

bool is_degree(PlanNumber knob) {
  return knob == kTensorKnob || knob == kContextKnob || knob == kDataKnob || knob == kPipelineKnob;
}

}  // namespace

bool NearestLegalPlanSearch::take(const Plan& candidate) {
  const std::optional<PlanLegalityRule> broken = first_broken_rule(job_, candidate);
  if (!broken) {
    if (std::ranges::find(found_, candidate) == found_.end()) found_.push_back(candidate);
    return true;
  }
  if (*broken > rule_ && wants_partial_) {
    partial_.push_back(candidate);
    wants_partial_ = false;
  }
  return false;
}

bool NearestLegalPlanSearch::take_value(PlanNumber knob, std::int64_t value) {
  Plan changed = plan_;
  knob(changed) = value;
  if (!is_degree(knob)) {
    adapt_dependent_choices(job_, changed);
    return take(changed);
  }
  for (const PlanNumber other : {kDataKnob, kPipelineKnob, kTensorKnob, kContextKnob}) {
    Plan candidate = changed;
    if (other == knob || !absorb(job_, candidate, other)) continue;
    adapt_dependent_choices(job_, candidate);
    if (take(candidate)) return true;
  }
  return false;
}

void NearestLegalPlanSearch::propose_values(PlanNumber knob,
                                            const std::vector<std::int64_t>& candidates) {
  if (!found_.empty()) return;
  Plan copy = plan_;
  const std::int64_t present = knob(copy);
  const auto takes = [&](std::int64_t value) { return take_value(knob, value); };
  const auto above = std::ranges::upper_bound(candidates, present);
  const auto below = std::make_reverse_iterator(std::ranges::lower_bound(candidates, present));
  wants_partial_ = true;
  if (std::find_if(below, candidates.rend(), takes) == candidates.rend()) wants_partial_ = true;
  if (std::find_if(above, candidates.end(), takes) == candidates.end()) wants_partial_ = false;
}

void NearestLegalPlanSearch::propose_plans(const std::vector<Plan>& candidates) {
  if (!found_.empty()) return;
  for (Plan candidate : candidates) {
    wants_partial_ = true;
    adapt_dependent_choices(job_, candidate);
    if (!take(candidate) && absorb(job_, candidate, kDataKnob)) {
      adapt_dependent_choices(job_, candidate);
      take(candidate);
    }
  }
}

std::string NearestLegalPlanSearch::nearest_legal_plans_text() const {
  if (!job_change_.empty()) return job_change_;
  const auto listed = [this](const std::vector<Plan>& plans) {
    std::string text;
    for (const Plan& plan : plans) {
      text += fmt::format("{}{}", text.empty() ? "" : ", or ", differing_choices_text(plan_, plan));
    }
    return text;
  };
  if (!found_.empty()) return "nearest legal: " + listed(found_);
  if (partial_.empty()) return "no similar plan is legal";
  return "no similar plan is legal; this rule alone would allow " + listed(partial_);
}

}  // namespace stepwright::plan
