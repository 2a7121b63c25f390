#include "stepwright/plan/laws/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace stepwright {

const Knob kTensorKnob{"tensor", [](Plan& plan) -> auto& { return plan.parallel.tensor; }};
const Knob kContextKnob{"context", [](Plan& plan) -> auto& { return plan.parallel.context; }};
const Knob kDataKnob{"data", [](Plan& plan) -> auto& { return plan.parallel.data; }};
const Knob kPipelineKnob{"pipeline", [](Plan& plan) -> auto& { return plan.parallel.pipeline; }};
const Knob kExpertKnob{"expert", [](Plan& plan) -> auto& { return plan.parallel.expert; }};
const Knob kExpertTensorKnob{"expert_tensor",
                             [](Plan& plan) -> auto& { return plan.parallel.expert_tensor; }};
const Knob kMicroBatchKnob{"micro_batch", [](Plan& plan) -> auto& { return plan.micro_batch; }};
const Knob kChunksKnob{"chunks", [](Plan& plan) -> auto& { return plan.schedule.chunks; }};
const Knob kGroupKnob{"sharding group", [](Plan& plan) -> auto& { return plan.sharding.group; }};
const Knob kExpertGroupKnob{"expert group",
                            [](Plan& plan) -> auto& { return plan.sharding.expert_group; }};

namespace {

/// Sets a degree so that the number of ranks is that of the cluster; false when none does.
bool absorb(const Job& job, Plan& plan, const Knob& knob) {
  std::int64_t& size = knob.of(plan);
  size = 1;
  const Parallel& degrees = plan.parallel;
  std::int64_t rest = job.cluster.devices();
  for (const std::int64_t other :
       {degrees.tensor, degrees.context, degrees.data, degrees.pipeline}) {
    if (rest % other != 0) return false;
    rest /= other;
  }
  size = rest;
  return true;
}

bool is_degree(const Knob& knob) {
  return std::ranges::any_of(std::array{&kTensorKnob, &kContextKnob, &kDataKnob, &kPipelineKnob},
                             [&](const Knob* degree) { return degree->of == knob.of; });
}

}  // namespace

bool Repairs::take(const Plan& candidate) {
  const std::optional<Rule> broken = broken_rule(job_, candidate);
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

bool Repairs::take_value(const Knob& knob, std::int64_t value) {
  Plan changed = plan_;
  knob.of(changed) = value;
  if (!is_degree(knob)) {
    follow(job_, changed);
    return take(changed);
  }
  for (const Knob* other : {&kDataKnob, &kPipelineKnob, &kTensorKnob, &kContextKnob}) {
    Plan candidate = changed;
    if (other->of == knob.of || !absorb(job_, candidate, *other)) continue;
    follow(job_, candidate);
    if (take(candidate)) return true;
  }
  return false;
}

void Repairs::values(const Knob& knob, const std::vector<std::int64_t>& candidates) {
  if (!found_.empty()) return;
  Plan copy = plan_;
  const std::int64_t present = knob.of(copy);
  const auto takes = [&](std::int64_t value) { return take_value(knob, value); };
  const auto above = std::ranges::upper_bound(candidates, present);
  const auto below = std::make_reverse_iterator(std::ranges::lower_bound(candidates, present));
  wants_partial_ = true;
  if (std::find_if(below, candidates.rend(), takes) == candidates.rend()) wants_partial_ = true;
  if (std::find_if(above, candidates.end(), takes) == candidates.end()) wants_partial_ = false;
}

void Repairs::plans(const std::vector<Plan>& candidates) {
  if (!found_.empty()) return;
  for (Plan candidate : candidates) {
    wants_partial_ = true;
    follow(job_, candidate);
    if (!take(candidate) && absorb(job_, candidate, kDataKnob)) {
      follow(job_, candidate);
      take(candidate);
    }
  }
}

std::string Repairs::advice() const {
  if (!job_change_.empty()) return job_change_;
  const auto listed = [this](const std::vector<Plan>& plans) {
    std::string text;
    for (const Plan& plan : plans) {
      text += fmt::format("{}{}", text.empty() ? "" : ", or ", changes(plan_, plan));
    }
    return text;
  };
  if (!found_.empty()) return "nearest legal: " + listed(found_);
  if (partial_.empty()) return "no plan near it is legal";
  return "no plan near it is legal; this rule alone would allow " + listed(partial_);
}

}  // namespace stepwright
