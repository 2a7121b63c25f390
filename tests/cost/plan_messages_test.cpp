#include "stepwright/cost/plan_messages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stepwright/plan/files.h"

namespace stepwright::cost {
namespace {

plan::PlannedJob two_nodes(const std::string& choices) {
  const std::string text = R"(stepwright: plan/1
job:
  model: {layers: 4, hidden: 128, heads: 8, ffn: 352, vocab: 256}
  cluster:
    name: two
    device: {name: core, memory: 4e9, memory_bandwidth: 10e9, peak: {fp32: 50e9, bf16: 50e9}}
    nodes: 2
    devices_per_node: 4
    levels: [{name: loopback, size: 4, bandwidth: 1e9}]
    nics_per_node: 1
    nic: 1e9
  batch: {sequences: 16, length: 128}
  precision: fp32
micro_batch: 2
)" + choices;
  return plan::read_plan(YamlJsonDocument::parse(text, "plan"), {});
}

std::vector<MeasurablePlanMessage> messages_of(const plan::PlannedJob& planned) {
  return plan_messages_to_measure(
      step::build_step_program(planned.job, planned.plan), CostModel(planned.job),
      rank_group_network_layouts(planned.job.cluster, plan::RankGrid(planned.plan)),
      planned.plan.collectives);
}

bool has(const std::vector<MeasurablePlanMessage>& messages, const MeasurablePlanMessage& message) {
  return std::ranges::find(messages, message) != messages.end();
}

/// Bytes of activations: rows of a micro-batch x hidden, in fp32.
constexpr double kActivations = 2.0 * 128 * 128 * 4;

TEST(PlanMessages, OfTensorParallelismAreRowsOfAMicroBatchInsideTheNode) {
  const auto messages =
      messages_of(two_nodes("parallel: {tensor: 4, data: 2}\nsequence_parallel: true\n"));
  const GroupNodePlacement inside{.nodes = 1, .members = 4, .groups = 1};
  EXPECT_TRUE(
      has(messages, {{}, collective::CollectiveOperation::kAllGather, inside, kActivations}));
  EXPECT_TRUE(
      has(messages, {{}, collective::CollectiveOperation::kReduceScatter, inside, kActivations}));
}

TEST(PlanMessages, NeighboursSendWhatAStageHandsOn) {
  const auto messages = messages_of(two_nodes("parallel: {pipeline: 2, data: 4}\n"));
  const GroupNodePlacement across{.nodes = 2, .members = 1, .groups = 4};
  EXPECT_TRUE(
      has(messages, {{}, collective::CollectiveOperation::kPointToPoint, across, kActivations}));
}

TEST(PlanMessages, OfASchedulesMethodNameIt) {
  const auto messages = messages_of(
      two_nodes("parallel: {data: 8}\nsharding: NNG\ncollectives: {data: two-level}\n"));
  const auto scheduled = std::ranges::count(
      messages, collective::CollectiveAlgorithm::kTwoLevel, [](const auto& each) {
        return each.method.value_or(collective::CollectiveAlgorithm::kLibrary);
      });
  EXPECT_GT(scheduled, 0);
}

TEST(PlanMessages, AreDistinctAndThoseThatArePriced) {
  const plan::PlannedJob planned =
      two_nodes("parallel: {tensor: 2, context: 2, data: 2}\nsharding: GGG\n");
  const auto messages = messages_of(planned);
  for (auto each = messages.begin(); each != messages.end(); ++each) {
    EXPECT_EQ(std::find(messages.begin(), each, *each), each);
  }
  const CostModel cost(planned.job);
  const auto layouts =
      rank_group_network_layouts(planned.job.cluster, plan::RankGrid(planned.plan));
  for (const step::OperatorTemplate& piece :
       step::build_step_program(planned.job, planned.plan).templates) {
    for (const step::Operator& op : piece.operators) {
      if (!step::is_communication(op.kind) ||
          cost.price_template_operators(op, layouts, {}).seconds == 0)
        continue;
      EXPECT_TRUE(std::ranges::any_of(
          messages,
          [&](const MeasurablePlanMessage& each) {
            return each.operation == step::collective_of_operator(op.kind) &&
                   each.payload_bytes == static_cast<double>(op.payload_bytes());
          }))
          << piece.name << ", " << op.name;
    }
  }
}

}  // namespace
}  // namespace stepwright::cost
