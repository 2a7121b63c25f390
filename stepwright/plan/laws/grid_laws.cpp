#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/laws.h"

namespace stepwright::plan {
namespace {

constexpr std::size_t kPipelineIndex = static_cast<std::size_t>(ParallelismAxis::kPipeline);

// --- Laws of the sizes of a plan. ---

/// A size of a plan: its field in a file, its value and its least value.
template <class Value>
struct SizeOfPlan {
  std::string_view field;
  Value* value;
  std::int64_t least = 1;
};

/// Returns the plan's sizes, for reading or changing.
template <class AnyPlan>
auto sizes(AnyPlan& plan) {
  using Size = SizeOfPlan<std::remove_pointer_t<decltype(&plan.micro_batch)>>;
  auto& degrees = plan.parallel;
  return std::array{Size{"parallel.tensor", &degrees.tensor},
                    Size{"parallel.pipeline", &degrees.pipeline},
                    Size{"parallel.context", &degrees.context},
                    Size{"parallel.expert", &degrees.expert},
                    Size{"parallel.expert_tensor", &degrees.expert_tensor},
                    Size{"parallel.data", &degrees.data},
                    Size{"micro_batch", &plan.micro_batch},
                    Size{"schedule.chunks", &plan.schedule.chunks},
                    Size{"schedule.strands", &plan.schedule.strands},
                    Size{"sharding.group", &plan.sharding.group},
                    Size{"sharding.expert_group", &plan.sharding.expert_group},
                    Size{"buckets.gradients", &plan.gradient_bucket, 0},
                    Size{"buckets.parameters", &plan.parameter_bucket, 0}};
}

bool below_one(const Job& /*job*/, const Plan& plan) {
  return std::ranges::any_of(sizes(plan),
                             [](const auto& size) { return *size.value < size.least; });
}

std::string below_one_values(const Job& /*job*/, const Plan& plan) {
  std::string text;
  for (const auto& [field, value, least] : sizes(plan)) {
    if (*value < least) text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", field, *value);
  }
  return text + ", and sizes are at least 1";
}

void raise_to_one(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  for (const auto& [field, value, least] : sizes(plan)) *value = std::max(least, *value);
  repairs.propose_plans({plan});
}

// --- Laws of the number of ranks. ---

bool wrong_world(const Job& job, const Plan& plan) {
  const ParallelismDegrees& degrees = plan.parallel;
  std::int64_t rest = job.cluster.devices();
  for (const std::int64_t size :
       {degrees.tensor, degrees.context, degrees.data, degrees.pipeline}) {
    if (rest % size != 0) return true;
    rest /= size;
  }
  return rest != 1;
}

std::string world_values(const Job& job, const Plan& plan) {
  const ParallelismDegrees& degrees = plan.parallel;
  return fmt::format(
      "the product of tensor {}, context {}, data {} and pipeline {} must be {}, the number of "
      "devices",
      degrees.tensor, degrees.context, degrees.data, degrees.pipeline, job.cluster.devices());
}

void repair_world(NearestLegalPlanSearch& repairs) {
  repairs.propose_plans({repairs.plan()});  // the data degree follows
  repairs.propose_values(kPipelineKnob, legal_pipeline_degrees(repairs.job()));
  repairs.propose_values(kContextKnob, legal_context_degrees(repairs.job()));
  repairs.propose_values(kTensorKnob, legal_tensor_degrees(repairs.job()));
}

// --- Laws of the rank order. ---

bool repeats_axis(const RankOrder& order) {
  unsigned seen = 0;
  for (const ParallelismAxis axis : order.axes) seen |= 1U << static_cast<unsigned>(axis);
  return seen != (1U << kAxes) - 1;
}

bool wrong_rank_order(const Job& job, const Plan& plan) {
  if (repeats_axis(plan.rank_order)) return true;
  if (!job.model.experts) return false;
  // Compares the pipeline's strides on both sides; later rules check sizes that do not divide.
  const ParallelismDegrees& degrees = plan.parallel;
  if (degrees.pipeline == 1 || degrees.expert_data_degree() == 0) return false;
  const RankGridAxisSizes axes = grid_axes(degrees, plan.rank_order);
  return axes.dense[kPipelineIndex].stride != axes.expert[kPipelineIndex].stride;
}

std::string rank_order_values(const Job& /*job*/, const Plan& plan) {
  const std::string word = rank_order_text(plan.rank_order);
  if (repeats_axis(plan.rank_order)) return fmt::format("{} does not name each axis once", word);
  const RankGridAxisSizes axes = grid_axes(plan.parallel, plan.rank_order);
  return fmt::format("under {} the pipeline has stride {} on the dense and {} on the expert side",
                     word, axes.dense[kPipelineIndex].stride, axes.expert[kPipelineIndex].stride);
}

void repair_rank_order(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  if (repeats_axis(plan.rank_order)) {
    plan.rank_order = RankOrder{};
  } else {
    const auto last = std::ranges::end(plan.rank_order.axes);
    const auto pipeline = std::ranges::find(plan.rank_order.axes, ParallelismAxis::kPipeline);
    std::rotate(pipeline, pipeline + 1, last);
  }
  repairs.propose_plans({plan});
}

constexpr PlanRuleDefinition kGridLaws[] = {
    {PlanLegalityRule::kPositive, "positive-sizes", "every size is at least 1", below_one,
     below_one_values, raise_to_one},
    {PlanLegalityRule::kWorldSize, "world-size",
     "tensor x context x data x pipeline are exactly the devices", wrong_world, world_values,
     repair_world},
    {PlanLegalityRule::kRankOrder, "rank-order",
     "the rank order names each axis once and, with experts, gives the pipeline one stride on the "
     "dense and on the expert side",
     wrong_rank_order, rank_order_values, repair_rank_order}};

}  // namespace

std::span<const PlanRuleDefinition> rank_grid_rules() { return kGridLaws; }

}  // namespace stepwright::plan
