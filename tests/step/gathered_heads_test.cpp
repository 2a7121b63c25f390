#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "stepwright/step/layer.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

constexpr std::int64_t kGatheredTokens = 4096;
// qwen3-30b-a3b: 32 heads of queries and 4 of keys and values, 128 wide; hidden size 2,048.
constexpr std::int64_t kHeadDim = 128;
constexpr std::int64_t kWholeWidth = (32 + 2 * 4) * kHeadDim;

ModelBlockTemplatePair attention_layer(std::int64_t tensor) {
  plan::Job job = job_of("qwen3-30b-a3b", 1, 8, kGatheredTokens);
  job.kernels.gathered_heads = true;
  const plan::Plan plan = plan_of(job, tensor, 1);
  return build_layer_templates(make_setting(job, plan), job.model.layer_class(0), {});
}

/// Returns the payloads of the messages of the projection of queries, keys and values that are not
/// of the residual stream's width.
std::vector<std::int64_t> head_payloads(const OperatorTemplate& block, OperatorKind kind) {
  std::vector<std::int64_t> payloads;
  for (const Operator& op : block.operators) {
    if (op.kind != kind || op.part != LayerPart::kQkv) continue;
    if (op.payload_elements == kGatheredTokens * 2048) continue;
    payloads.push_back(op.payload_elements);
  }
  return payloads;
}

TEST(GatheredHeads, EightTensorRanksOfFourKeyHeadsGatherTheWholeProjection) {
  const ModelBlockTemplatePair layer = attention_layer(8);
  EXPECT_THAT(head_payloads(layer.forward, OperatorKind::kAllGather),
              testing::ElementsAre(kGatheredTokens * kWholeWidth));
  EXPECT_THAT(head_payloads(layer.backward, OperatorKind::kReduceScatter),
              testing::ElementsAre(kGatheredTokens * kWholeWidth));
}

TEST(GatheredHeads, ARankMultipliesAnEighthAndAttendsWithOneKeyHead) {
  for (const Operator& op : attention_layer(8).forward.operators) {
    if (op.kind == OperatorKind::kLinear && op.part == LayerPart::kQkv) {
      EXPECT_EQ(op.shape.columns, kWholeWidth / 8);
    }
    if (op.kind == OperatorKind::kAttention) {
      EXPECT_EQ(op.shape.heads, 4);
      EXPECT_EQ(op.shape.kv_heads, 1);
    }
  }
}

TEST(GatheredHeads, FourRanksGatherNothing) {
  const ModelBlockTemplatePair layer = attention_layer(4);
  EXPECT_THAT(head_payloads(layer.forward, OperatorKind::kAllGather), testing::IsEmpty());
  EXPECT_THAT(head_payloads(layer.backward, OperatorKind::kReduceScatter), testing::IsEmpty());
}

}  // namespace
}  // namespace stepwright::step
