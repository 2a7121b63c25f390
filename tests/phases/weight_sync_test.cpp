#include "stepwright/phases/weight_sync.h"

#include <gtest/gtest.h>

#include "plans.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/model/parameters.h"
#include "stepwright/phases/phased_step.h"

namespace stepwright::phases {
namespace {

PolicyWeightSync sync_of(const std::string& choices, const std::string& rollout) {
  return predict_phased_step(
             plan_of(choices, "{kind: grpo, rollout: {seconds: 1, " + rollout + "}}"))
      .sync;
}

double model_bytes() {
  return 2.0 * static_cast<double>(model::count_parameters(plan_of("").job.model));
}

double gather_s(double bytes, std::int64_t size, std::int64_t stride) {
  const plan::Job job = plan_of("").job;
  return cost::CostModel(job)
      .message_time(step::OperatorKind::kAllGather, bytes,
                    cluster::network_layout_of_strided_group(job.cluster, size, stride),
                    collective::CollectiveAlgorithm::kLibrary, step::ParallelismScheme::kData)
      .seconds;
}

TEST(PolicyWeightSync, WhereEachDeviceHoldsWhatItGeneratesWithIsNothing) {
  EXPECT_EQ(sync_of("parallel: {data: 16}\nsharding: zero1\n", "tensor: 1").seconds(), 0);
  EXPECT_EQ(sync_of("parallel: {tensor: 4, data: 4}\n", "tensor: 4").seconds(), 0);
  EXPECT_EQ(sync_of("parallel: {tensor: 4, data: 4}\n", "tensor: 8").seconds(), 0);
}

TEST(PolicyWeightSync, OnTheSameDevicesIsAGatherOfTheParts) {
  const PolicyWeightSync sharded = sync_of("parallel: {data: 16}\nsharding: zero3\n", "tensor: 1");
  EXPECT_DOUBLE_EQ(sharded.bytes, model_bytes());
  EXPECT_NEAR(sharded.gather_s, gather_s(model_bytes(), 16, 1), 1e-9);
  const PolicyWeightSync tensor = sync_of("parallel: {tensor: 8, data: 2}\n", "tensor: 2");
  EXPECT_NEAR(tensor.gather_s, gather_s(model_bytes() / 2, 4, 1), 1e-9);
  const PolicyWeightSync pipeline =
      sync_of("parallel: {pipeline: 2, data: 8}\nschedule: 1f1b\n", "tensor: 1");
  EXPECT_NEAR(pipeline.gather_s, gather_s(model_bytes(), 2, 8), 1e-9);
}

TEST(PolicyWeightSync, ToOtherDevicesCrossesTheNetwork) {
  const PolicyWeightSync near =
      sync_of("parallel: {tensor: 8, data: 2}\n", "devices: 8, tensor: 8");
  EXPECT_NEAR(near.gather_s, gather_s(model_bytes(), 8, 1), 1e-9);
  // No faster than the NICs of a node, and no slower than a quarter of them.
  const cluster::Cluster cluster = plan_of("").job.cluster;
  const double line =
      model_bytes() / (cluster.nic_bytes_per_s * static_cast<double>(cluster.nics_per_node));
  EXPECT_GT(near.broadcast_s, line);
  EXPECT_LT(near.broadcast_s, 4 * line);
  EXPECT_DOUBLE_EQ(near.held_bytes, model_bytes() / 8);
}

TEST(PolicyWeightSync, OfExpertsGathersThemFromTheirRanks) {
  const YamlJsonDocument document = YamlJsonDocument::parse(R"(stepwright: plan/2
job:
  model: mixtral-8x7b
  cluster: {profile: dgx-h100, nodes: 2}
  batch: {sequences: 64, length: 4096}
  objective: {kind: grpo, rollout: {seconds: 1, tensor: 4}}
parallel: {tensor: 4, expert: 4, data: 4}
sequence_parallel: true
sharding: zero1
)",
                                                            "plan.yaml");
  const PolicyWeightSync sync = predict_phased_step(plan::read_plan(document, {})).sync;
  // Dense weights are where they are needed, and experts are most of the model.
  const double experts = 0.9 * sync.bytes / 4;
  EXPECT_GT(sync.gather_s, gather_s(experts, 4, 1));
}

}  // namespace
}  // namespace stepwright::phases
