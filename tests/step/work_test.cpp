#include "stepwright/step/work.h"

#include <gtest/gtest.h>

namespace stepwright::step {
namespace {

Operator rows_by_columns(OperatorKind kind, Phase phase = Phase::kForward) {
  return {.kind = kind, .phase = phase, .shape = {.rows = 100, .columns = 10}};
}

Operator attention(OperatorKind kind, Phase phase = Phase::kForward) {
  // Two sequences of eight queries and keys, causal: 36 pairs; four heads share two of keys.
  return {.kind = kind,
          .phase = phase,
          .shape = {.batch = 2,
                    .heads = 4,
                    .kv_heads = 2,
                    .queries = 8,
                    .keys = 8,
                    .head_dim = 16,
                    .value_dim = 16,
                    .pairs = 36}};
}

Operator linear(DType dtype, Phase phase = Phase::kForward) {
  return {.kind = OperatorKind::kLinear,
          .phase = phase,
          .dtype = dtype,
          .shape = {.rows = 100, .columns = 30, .inner = 20}};
}

// In bf16 six and eight passes, in fp32 seven and ten, as the casts move half as much each.
TEST(Work, BiasesOfExpertsMoveWhatTheirKernelsDo) {
  Operator op = rows_by_columns(OperatorKind::kAdd);
  op.purpose = OperatorPurpose::kExpertBias;
  op.dtype = DType::kBf16;
  EXPECT_EQ(device_memory_traffic_bytes(op), 6 * 2 * 100 * 10);
  op.dtype = DType::kFp32;
  EXPECT_EQ(device_memory_traffic_bytes(op), 7 * 4 * 100 * 10);
  op.phase = Phase::kDataGradient;
  EXPECT_EQ(device_memory_traffic_bytes(op), 10 * 4 * 100 * 10);
}

TEST(Work, AMatrixProductCountsTwoFlopsPerMultiplyAddAndItsThreeMatrices) {
  for (const Phase phase : {Phase::kForward, Phase::kDataGradient, Phase::kWeightGradient}) {
    EXPECT_EQ(operator_flops(linear(DType::kBf16, phase)), 2.0 * 100 * 20 * 30);
    EXPECT_EQ(device_memory_traffic_bytes(linear(DType::kBf16, phase)),
              2 * (100 * 20 + 20 * 30 + 100 * 30));
  }
  EXPECT_EQ(device_memory_traffic_bytes(linear(DType::kFp32)),
            2 * device_memory_traffic_bytes(linear(DType::kBf16)));
}

TEST(Work, ANarrowProductReadsWritesAndReadsItsOperands) {
  EXPECT_EQ(operator_flops(linear(DType::kFp8)), operator_flops(linear(DType::kBf16)));
  EXPECT_EQ(device_memory_traffic_bytes(linear(DType::kFp8)),
            (2 + 1 + 1) * (100 * 20 + 20 * 30) + 2 * 100 * 30);
}

TEST(Work, GroupedProductsReadEveryExpertsMatrix) {
  Operator op = linear(DType::kBf16);
  op.kind = OperatorKind::kGroupedLinear;
  op.shape.batch = 4;
  EXPECT_EQ(operator_flops(op), 2.0 * 100 * 20 * 30);
  EXPECT_EQ(device_memory_traffic_bytes(op), 2 * (100 * 20 + 4 * 20 * 30 + 100 * 30));
}

TEST(Work, FusedAttentionComputesThePairsThatTheMaskLeaves) {
  const double forward = 4.0 * 2 * 4 * 36 * 16;
  EXPECT_EQ(operator_flops(attention(OperatorKind::kAttention)), forward);
  EXPECT_EQ(operator_flops(attention(OperatorKind::kAttention, Phase::kDataGradient)),
            2.5 * forward);
  EXPECT_EQ(operator_flops(attention(OperatorKind::kAttention, Phase::kRecompute)), forward);
  const double moved = 2.0 * 2 * 8 * 16 * (4 + 2 + 2 + 4);
  EXPECT_EQ(device_memory_traffic_bytes(attention(OperatorKind::kAttention)), moved);
  EXPECT_EQ(device_memory_traffic_bytes(attention(OperatorKind::kAttention, Phase::kDataGradient)),
            2 * moved);
}

TEST(Work, AttentionWithOwnValueWidthSplitsItsProducts) {
  Operator op = attention(OperatorKind::kAttention);
  op.shape.head_dim = 24;
  EXPECT_EQ(operator_flops(op), 2.0 * 2 * 4 * 36 * (24 + 16));
  op.phase = Phase::kDataGradient;
  EXPECT_EQ(operator_flops(op), 2.0 * 2 * 4 * 36 * (3 * 24 + 2 * 16));
}

TEST(Work, UnfusedAttentionComputesAndStoresAllPairs) {
  const double all = 2.0 * 4 * 8 * 8;
  EXPECT_EQ(operator_flops(attention(OperatorKind::kScores)), 2 * all * 16);
  EXPECT_EQ(operator_flops(attention(OperatorKind::kAttendValues)), 2 * all * 16);
  EXPECT_EQ(device_memory_traffic_bytes(attention(OperatorKind::kScores)),
            2 * (all + 2.0 * 8 * 16 * (4 + 2)));
  EXPECT_EQ(device_memory_traffic_bytes(attention(OperatorKind::kAttendValues)),
            2 * (all + 2.0 * 8 * 16 * (2 + 4)));
  EXPECT_EQ(device_memory_traffic_bytes(attention(OperatorKind::kSoftmax)), 2 * 2 * all);
  EXPECT_EQ(device_memory_traffic_bytes(attention(OperatorKind::kSoftmax, Phase::kDataGradient)),
            3 * 2 * all);
}

TEST(Work, AScanOfMamba2MovesTheTensorsOfItsKernels) {
  // Of 8 tokens in chunks of 4: 48 values, 40 elements of B and of C, 60 of states, 32 products.
  Operator op{.kind = OperatorKind::kScan,
              .phase = Phase::kForward,
              .dtype = DType::kBf16,
              .shape = {.batch = 1,
                        .heads = 2,
                        .kv_heads = 1,
                        .queries = 8,
                        .keys = 4,
                        .head_dim = 5,
                        .value_dim = 3},
              .purpose = OperatorPurpose::kMamba2Scan};
  EXPECT_DOUBLE_EQ(device_memory_traffic_bytes(op),
                   3 * 2 * 48 + 4 * 2 * 40 + (8 + 4) * 60 + 8 * 32);
  op.phase = Phase::kDataGradient;
  EXPECT_DOUBLE_EQ(device_memory_traffic_bytes(op),
                   11 * 2 * 48 + (22 + 16) * 40 + (8 + 18) * 60 + 24 * 32);
}

TEST(Work, VectorOperatorsMoveEachOperandOnce) {
  struct Case {
    OperatorKind kind;
    double forward, backward;  // bytes of one element in bf16
  };
  const Case cases[] = {{OperatorKind::kEmbedding, 4, 6}, {OperatorKind::kNorm, 4, 8},
                        {OperatorKind::kRotary, 4, 4},    {OperatorKind::kActivation, 4, 6},
                        {OperatorKind::kAdd, 6, 6},       {OperatorKind::kDropout, 5, 5},
                        {OperatorKind::kTopK, 4, 4},      {OperatorKind::kPermute, 4, 4},
                        {OperatorKind::kUnpermute, 4, 4}, {OperatorKind::kLossLocal, 4, 4},
                        {OperatorKind::kAccumulate, 6, 6}};
  for (const Case& each : cases) {
    SCOPED_TRACE(name_of(kOperatorNames, each.kind));
    EXPECT_EQ(device_memory_traffic_bytes(rows_by_columns(each.kind)), 1000 * each.forward);
    EXPECT_EQ(device_memory_traffic_bytes(rows_by_columns(each.kind, Phase::kDataGradient)),
              1000 * each.backward);
  }
}

TEST(Work, AGatedActivationReadsTwiceAsMany) {
  Operator op = rows_by_columns(OperatorKind::kActivation);
  op.gated = true;
  EXPECT_EQ(device_memory_traffic_bytes(op), 6000);
  op.phase = Phase::kDataGradient;
  EXPECT_EQ(device_memory_traffic_bytes(op), 10000);
}

TEST(Work, TheGradientNormReadsOnce) {
  const Operator op{
      .kind = OperatorKind::kNormSquare, .dtype = DType::kFp32, .shape = {.rows = 50}};
  EXPECT_EQ(device_memory_traffic_bytes(op), 200);
}

TEST(Work, TheUpdateMovesWhatItsShapeSays) {
  const Operator op{.kind = OperatorKind::kOptimizer, .shape = {.rows = 1000, .inner = 30}};
  EXPECT_EQ(device_memory_traffic_bytes(op), 30000);
}

TEST(Work, OrthogonalMatricesTakeFiveStepsOfThreeProducts) {
  // Two of 4 x 8 elements: 4 * 16 * 8 + 2 * 64 = 640 FLOPs a step.
  const Operator op{.kind = OperatorKind::kOrthogonalize,
                    .dtype = DType::kBf16,
                    .shape = {.rows = 2, .columns = 32, .inner = 640}};
  EXPECT_EQ(operator_flops(op), 2 * 5 * 640);
  EXPECT_EQ(device_memory_traffic_bytes(op), 2 * 5 * 32 * 3 * 2);
}

TEST(Work, AHostTakesNothingOfTheDeviceButCopies) {
  Operator op{.kind = OperatorKind::kCopyToHost, .dtype = DType::kFp32, .shape = {.rows = 10}};
  EXPECT_EQ(device_memory_traffic_bytes(op), 40);
  op.kind = OperatorKind::kHostOptimizer;
  EXPECT_EQ(device_memory_traffic_bytes(op) + operator_flops(op), 0);
}

TEST(Work, CommunicationComputesNothing) {
  for (const Named<OperatorKind>& entry : kOperatorNames) {
    const Operator op = rows_by_columns(entry.value);
    if (entry.value == OperatorKind::kHostOptimizer) continue;
    EXPECT_EQ(is_communication(entry.value), operator_flops(op) == 0 &&
                                                 device_memory_traffic_bytes(op) == 0 &&
                                                 entry.value >= OperatorKind::kAllReduce);
  }
}

}  // namespace
}  // namespace stepwright::step
