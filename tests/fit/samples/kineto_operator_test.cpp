#include "stepwright/fit/samples/kineto_operator.h"

#include <gtest/gtest.h>

namespace stepwright::fit {
namespace {

constexpr const char* kType = "c10::BFloat16";

std::variant<TranslatedOperator, UntranslatedReason> map(logs::KinetoOperatorSignature op,
                                                         const SoftmaxSizes& softmaxes = {}) {
  if (op.types.empty()) op.types.assign(op.dims.size(), kType);
  return timing_sample_of_profiled_operator(op, softmaxes);
}

std::string reason_of(const std::variant<TranslatedOperator, UntranslatedReason>& result) {
  const auto* unmapped = std::get_if<UntranslatedReason>(&result);
  return unmapped == nullptr ? "mapped" : unmapped->reason;
}

TEST(KinetoOperator, ASoftmaxTellsScoresFromValues) {
  const SoftmaxSizes softmaxes = {{2, 8, 512, 512}};
  const auto scores = map({.name = "aten::bmm", .dims = {{16, 512, 64}, {16, 64, 512}}}, softmaxes);
  ASSERT_EQ(reason_of(scores), "mapped");
  EXPECT_EQ(std::get<TranslatedOperator>(scores).what, cost::OperatorClass::kScores);
  EXPECT_EQ(std::get<TranslatedOperator>(scores).op.shape.heads, 8);
  EXPECT_EQ(std::get<TranslatedOperator>(scores).op.shape.head_dim, 64);
  const auto values =
      map({.name = "aten::bmm", .dims = {{16, 512, 512}, {16, 512, 64}}}, softmaxes);
  ASSERT_EQ(reason_of(values), "mapped");
  EXPECT_EQ(std::get<TranslatedOperator>(values).what, cost::OperatorClass::kAttendValues);
  EXPECT_EQ(reason_of(map({.name = "aten::bmm", .dims = {{4, 96, 64}, {4, 64, 256}}}, softmaxes)),
            "no softmax tells scores from values");
}

TEST(KinetoOperator, CausalAttentionCountsHalfThePairs) {
  logs::KinetoOperatorSignature op{
      .name = "aten::_scaled_dot_product_cudnn_attention",
      .dims = {{1, 32, 4096, 128}, {1, 8, 4096, 128}, {1, 8, 4096, 128}},
      .values = {"", "", "", "", "True", "0.", "True", "False"}};
  const auto causal = map(op);
  ASSERT_EQ(reason_of(causal), "mapped");
  const auto& mapped = std::get<TranslatedOperator>(causal);
  EXPECT_EQ(mapped.op.shape.kv_heads, 8);
  EXPECT_EQ(mapped.op.shape.pairs, 4096 * 4097 / 2);
  EXPECT_EQ(mapped.kernel, cluster::AttentionKernel::kCudnn);
  op.values[6] = "False";
  EXPECT_EQ(std::get<TranslatedOperator>(map(op)).op.shape.pairs, 4096 * 4096);
  op.values[6] = "";
  EXPECT_EQ(reason_of(map(op)), "does not state whether it is causal");
}

TEST(KinetoOperator, ALinearLayerMayHaveMoreDimensions) {
  const auto linear = map({.name = "aten::linear", .dims = {{2, 128, 64}, {256, 64}}});
  ASSERT_EQ(reason_of(linear), "mapped");
  EXPECT_EQ(std::get<TranslatedOperator>(linear).op.shape,
            (step::OperatorShape{.rows = 256, .columns = 256, .inner = 64}));
}

TEST(KinetoOperator, TheGradientOfATableSaysItsRows) {
  const auto scatter = map({.name = "aten::embedding_dense_backward",
                            .dims = {{2, 128, 64}, {2, 128}},
                            .values = {"", "", "50304", "-1", "False"}});
  ASSERT_EQ(reason_of(scatter), "mapped");
  EXPECT_EQ(std::get<TranslatedOperator>(scatter).op.shape,
            (step::OperatorShape{.rows = 256, .columns = 64, .inner = 50304}));
}

TEST(KinetoOperator, RefusesWhatDoesNotFit) {
  EXPECT_EQ(reason_of(map({.name = "aten::conv2d", .dims = {{1, 2}}})), "no operator of ours");
  EXPECT_EQ(reason_of(map({.name = "aten::mm", .dims = {{2, 3}, {4, 5}}})),
            "other sizes than the operator has");
  EXPECT_EQ(reason_of(map({.name = "aten::mm", .dims = {{0, 3}, {3, 5}}})),
            "other sizes than the operator has");
  EXPECT_EQ(reason_of(map({.name = "aten::mm", .dims = {{2, 3}, {3, 5}}, .types = {"float"}})),
            "not in 16 bits");
  EXPECT_EQ(reason_of(map({.name = "aten::add", .dims = {{2, 3}, {3}}})),
            "not two of the same size");
  EXPECT_EQ(reason_of(map({.name = "aten::_softmax", .dims = {{8, 64}}})),
            "not over attention scores");
  EXPECT_EQ(
      reason_of(map(
          {.name = "aten::native_layer_norm", .dims = {{2, 8, 64}}, .values = {"", "[8, 64]"}})),
      "not over the last dimension alone");
}

}  // namespace
}  // namespace stepwright::fit
