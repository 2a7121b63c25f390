#include <gtest/gtest.h>

#include "stepwright/cluster/catalog.h"
#include "stepwright/interleave/interleaving.h"
#include "stepwright/interleave/layer_strands.h"
#include "stepwright/model/catalog.h"
#include "stepwright/simulate/timeline/alone.h"
#include "stepwright/step/pair.h"
#include "stepwright/step/rough_seconds.h"

namespace stepwright::interleave {
namespace {

struct Case {
  const char* model;
  std::int64_t tensor;
  bool keep;
};

/// Seconds of a pair of layers by the exact plan without rotation, and simulated in the order of
/// steps.
struct Found {
  double exact_s = 0;
  double by_prices_s = 0;
  double by_rough_seconds_s = 0;
};

Found found_for(const Case& given) {
  plan::Job job;
  job.model = *model::built_in_model(given.model);
  job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  job.length = 4096;
  job.sequences = 64;
  plan::Plan plan;
  plan.parallel = {.tensor = given.tensor, .data = 8 / given.tensor};
  plan.sequence_parallel = true;
  plan.tensor_input =
      given.keep ? plan::GatheredInputPolicy::kKeep : plan::GatheredInputPolicy::kRegather;
  const cost::CostModel cost(job);
  const LayerOperatorLists strands = layer_operator_lists(job, plan, cost, 0);
  const auto layouts = cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan));
  const step::OperatorTemplate& forward = strands.templates.forward;
  const step::OperatorTemplate& backward = strands.templates.backward;
  const auto played_s = [&](const step::OperatorSeconds& seconds) {
    const step::OperatorTemplate piece = step::merge_forward_backward_templates(
        forward, backward, step::interleaved_issue_order(forward, backward, seconds));
    std::vector<cost::OperatorTime> times;
    cost.price_template_operators(piece, layouts, plan.collectives, times);
    return simulate::simulate_template_alone(piece, times, cost.contention()).duration_s;
  };
  const auto priced_s = [&](const step::Operator& op) {
    return cost.price_template_operators(op, layouts, plan.collectives).seconds;
  };
  return {interleave_layer_forward_and_backward(strands.pair,
                                                {.contention = cost.contention(), .rotate = false})
              .interleaved_s,
          played_s(priced_s), played_s(step::RoughOperatorSeconds(job, plan::RankGrid(plan)))};
}

// The order of a step is chosen by simulating both strands once; the exact plan is better only by a
// rotation.
TEST(StepOrder, TakesAsLongAsTheExactPlan) {
  for (const char* model : {"llama-3-70b", "mixtral-8x7b"}) {
    for (const std::int64_t tensor : {2, 4, 8}) {
      for (const bool keep : {false, true}) {
        const Found found = found_for({model, tensor, keep});
        EXPECT_LE(found.by_prices_s, found.exact_s * 1.001) << model << ", tensor " << tensor;
        EXPECT_LE(found.by_rough_seconds_s, found.exact_s * 1.013)
            << model << ", tensor " << tensor;
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::interleave
