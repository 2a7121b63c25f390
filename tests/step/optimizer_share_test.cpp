#include "stepwright/step/optimizer_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "stepwright/plan/optimizer_traits.h"
#include "stepwright/step/matrices.h"
#include "stepwright/step/update.h"

namespace stepwright::step {
namespace {

std::int64_t states_of_1000(plan::Optimizer optimizer, DType storage) {
  return optimizer_state_bytes(optimizer, plan::master_copy_state_types(storage, storage),
                               {.elements = 1000});
}

TEST(OptimizerShare, AnOptimizerKeepsItsMomentsAndAMasterOfWhatIsStoredNarrower) {
  EXPECT_EQ(states_of_1000(plan::Optimizer::kAdam, DType::kBf16), 12000);
  EXPECT_EQ(states_of_1000(plan::Optimizer::kAdam, DType::kFp32), 8000);
  EXPECT_EQ(states_of_1000(plan::Optimizer::kAdam, DType::kFp64), 16000);
  EXPECT_EQ(states_of_1000(plan::Optimizer::kAdamNarrow, DType::kBf16), 8000);
  EXPECT_EQ(states_of_1000(plan::Optimizer::kSgd, DType::kBf16), 4000);
  EXPECT_EQ(states_of_1000(plan::Optimizer::kSgd, DType::kFp64), 0);
  EXPECT_EQ(states_of_1000(plan::Optimizer::kMuon, DType::kBf16), 12000) << "no matrices: AdamW";
  EXPECT_EQ(states_of_1000(plan::Optimizer::kAdafactor, DType::kFp32), 4000);
  // Two of a byte, and two scales of four bytes for each of four blocks of 256.
  EXPECT_EQ(optimizer_state_bytes(plan::Optimizer::kAdam8bit,
                                  plan::master_copy_state_types(DType::kFp32, DType::kFp32),
                                  {.elements = 1024, .numbers = 8}),
            2 * 1024 + 2 * 4 * 4);
}

TEST(OptimizerShare, MatricesHaveOneMomentOrSumsOfRowsAndColumns) {
  const OptimizerShare share{.elements = 1000, .matrix_elements = 800, .numbers = 60};
  const plan::StateDataTypes types = plan::master_copy_state_types(DType::kBf16, DType::kFp32);
  EXPECT_EQ(optimizer_moment_bytes(plan::Optimizer::kMuon, types,
                                   {.elements = 1000, .matrix_elements = 800}),
            200 * 8 + 800 * 4);
  EXPECT_EQ(optimizer_moment_bytes(plan::Optimizer::kAdafactor, types, share), 200 * 4 + 60 * 4);
  EXPECT_EQ(optimizer_moment_bytes(plan::Optimizer::kAdam, types, {.elements = 1000}), 8000);
  constexpr std::int64_t kMany = std::int64_t{1} << 58;
  EXPECT_EQ(optimizer_moment_bytes(plan::Optimizer::kAdam, types, {.elements = kMany}), 8 * kMany);
}

TEST(OptimizerShare, ShardsAreFp32AloneWhereParametersAreSplitAsTheOptimizerIs) {
  plan::Job job;
  job.kernels.masters = plan::MasterWeights::kAlone;
  plan::Plan plan;
  plan.parallel.data = 2;
  plan.accumulate = DType::kBf16;
  plan.sharding = {plan::StateShardingScope::kGlobal, plan::StateShardingScope::kGlobal,
                   plan::StateShardingScope::kGlobal};
  const plan::StateDataTypes split = plan::state_types(job, plan);
  EXPECT_EQ(split.stored, DType::kFp32);
  EXPECT_FALSE(split.has_master_copies());
  EXPECT_EQ(split.gradient, DType::kFp32) << "reduced in bf16, kept as the parameter is";
  const OptimizerShare share{.elements = 1000};
  EXPECT_EQ(optimizer_state_bytes(plan::Optimizer::kAdam, split, share), 8000);
  EXPECT_EQ(optimizer_update_bytes_per_element(plan::Optimizer::kAdam, split, share), 4 + 8 + 16);
  EXPECT_EQ(plan::host_update_bytes_per_parameter(plan::Optimizer::kAdam, split), 16);
  plan.sharding.parameters = plan::StateShardingScope::kNone;
  EXPECT_EQ(plan::state_types(job, plan).stored, DType::kBf16) << "whole, beside fp32 shards";
  EXPECT_EQ(optimizer_state_bytes(plan::Optimizer::kAdam, plan::state_types(job, plan), share),
            12000);
}

TEST(OptimizerShare, WithoutMastersAllIsInTheTypeOfTheParameters) {
  plan::Job job;
  job.kernels.masters = plan::MasterWeights::kNone;
  const plan::StateDataTypes types = plan::state_types(job, {.accumulate = DType::kBf16});
  const OptimizerShare share{.elements = 1000};
  EXPECT_EQ(optimizer_state_bytes(plan::Optimizer::kAdamW, types, share), 4000);
  EXPECT_EQ(optimizer_update_bytes_per_element(plan::Optimizer::kAdamW, types, share), 2 + 4 + 8);
  EXPECT_EQ(plan::host_update_bytes_per_parameter(plan::Optimizer::kAdamW, types), 8);
  // Eight bits are eight bits.
  EXPECT_EQ(
      optimizer_state_bytes(plan::Optimizer::kAdam8bit, types, {.elements = 1024, .numbers = 8}),
      2 * 1024 + 2 * 4 * 4);
  job.precision = DType::kFp32;
  EXPECT_EQ(plan::state_types(job, {}).master, DType::kFp32);
}

TEST(OptimizerShare, TheUpdateMovesGradientMasterMomentsAndTheStoredParameter) {
  const OptimizerShare share{.elements = 1000};
  const auto bytes = [&](plan::Optimizer optimizer, DType storage, DType gradient) {
    return optimizer_update_bytes_per_element(
        optimizer, plan::master_copy_state_types(storage, gradient), share);
  };
  EXPECT_EQ(bytes(plan::Optimizer::kAdam, DType::kBf16, DType::kFp32), 4 + 8 + 16 + 2);
  EXPECT_EQ(bytes(plan::Optimizer::kAdamW, DType::kFp32, DType::kFp32), 4 + 8 + 16);
  EXPECT_EQ(bytes(plan::Optimizer::kSgd, DType::kBf16, DType::kBf16), 2 + 8 + 2);
  EXPECT_EQ(bytes(plan::Optimizer::kAdamNarrow, DType::kBf16, DType::kFp32), 4 + 8 + 8 + 2);
  EXPECT_EQ(bytes(plan::Optimizer::kAdam, DType::kFp64, DType::kFp64), 8 + 16 + 32);
}

ModelBlockParameterCounts size_of(std::int64_t matrices) {
  ModelBlockParameterCounts size{.dense = 100 * matrices + 50};
  size.dense_matrices = {.elements = 100 * matrices, .count = matrices, .flops = 7 * matrices};
  size.largest_table = 40;
  return size;
}

plan::Job muon_job() {
  plan::Job job;
  job.optimizer = plan::Optimizer::kMuon;
  return job;
}

TEST(OptimizerShare, OwnersHaveWholeMatricesAndOthersAreSplitEvenly) {
  plan::Plan plan;
  plan.parallel.data = 4;
  plan::Job job = muon_job();
  const OptimizerShare all = optimizer_share(job, plan, size_of(6));
  EXPECT_EQ(all.elements, 650);
  EXPECT_EQ(all.dense.flops, 42);
  plan.sharding.optimizer = plan::StateShardingScope::kGlobal;
  OptimizerShare share = optimizer_share(job, plan, size_of(6));
  EXPECT_EQ(share.dense.count, 2) << "six over four ranks";
  EXPECT_EQ(share.matrix_elements, 200);
  EXPECT_EQ(share.elements, 200 + 13);
  EXPECT_FALSE(share.moves_shards);
  job.kernels.scattered_gradients = false;
  share = optimizer_share(job, plan, size_of(6));
  EXPECT_EQ(share.elements, 200 + 40) << "the table has an owner";
}

TEST(OptimizerShare, SplitGradientsSplitMatricesWhichMeetForTheirProducts) {
  plan::Plan plan;
  plan.parallel.data = 4;
  plan.sharding = {.gradients = plan::StateShardingScope::kGlobal,
                   .optimizer = plan::StateShardingScope::kGlobal};
  const plan::Job job = muon_job();
  const OptimizerShare share = optimizer_share(job, plan, size_of(6));
  EXPECT_EQ(share.matrix_elements, 150);
  EXPECT_EQ(share.dense.count, 2);
  ASSERT_TRUE(share.moves_shards);
  const auto messages = matrix_optimizer_messages(job, plan, share);
  EXPECT_EQ(messages[0].kind, OperatorKind::kAllToAll);
  EXPECT_EQ(messages[0].elements, 200);
  EXPECT_EQ(messages[1].elements, 0) << "no tensor ranks";
  EXPECT_EQ(messages[2].elements, 200);
  EXPECT_EQ(messages[2].purpose, OperatorPurpose::kReturnMatrices);
}

TEST(OptimizerShare, TheHostHasItsPartAndUpdatesItBetweenCopies) {
  plan::Plan plan;
  plan.offload.optimizer = 0.25;
  const plan::Job job;
  const OptimizerShare share = optimizer_share(job, plan, {.dense = 1000});
  EXPECT_EQ(offloaded_state_bytes(job, plan, share), 3000);
  EXPECT_EQ(update_operators(job, plan, share)[3].dtype, DType::kFp32)
      << "the device casts what comes up";
  plan.offload.masters = false;
  EXPECT_EQ(offloaded_state_bytes(job, plan, share), 2000);
  const std::vector<Operator> list = update_operators(job, plan, share);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].shape.rows, 750);
  EXPECT_EQ(list[1].kind, OperatorKind::kCopyToHost);
  EXPECT_EQ(list[2].shape.rows, 250);
  EXPECT_EQ(list[2].shape.inner, 28) << "gradient, parameter and moments in fp32";
  EXPECT_EQ(list[3].dtype, DType::kFp32);
}

TEST(OptimizerShare, AHostScalesGradientsAsItsFrameworkDoes) {
  plan::Plan plan;
  plan.offload.optimizer = 1;
  const auto bytes = [&](std::string name, std::string variant) {
    plan::Job job;
    job.framework = {.name = std::move(name), .variant = std::move(variant)};
    if (plan.offload.parameters) job.kernels.masters = plan::MasterWeights::kNone;
    const OptimizerShare share = optimizer_share(job, plan, {.dense = 1000});
    const std::vector<Operator> list = update_operators(job, plan, share);
    return std::ranges::find(list, OperatorKind::kHostOptimizer, &Operator::kind)->shape.inner;
  };
  EXPECT_EQ(bytes("megatron-core", ""), 28) << "the device clips them before they go down";
  EXPECT_EQ(bytes("deepspeed", ""), 28 + 8) << "read and written";
  plan.offload.parameters = true;
  EXPECT_EQ(bytes("fsdp", "torchtune"), 14 + 4) << "all in bf16, divided by tokens";
}

TEST(OptimizerShare, AHostThatHoldsParametersUpdatesThemWithoutCopies) {
  plan::Plan plan;
  plan.offload = {.optimizer = 1, .parameters = true};
  const plan::Job job;
  const OptimizerShare share = optimizer_share(job, plan, {.dense = 1000});
  const std::vector<Operator> list = update_operators(job, plan, share);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].kind, OperatorKind::kHostOptimizer);
  EXPECT_EQ(list[1].shape.rows, 1000);
  EXPECT_EQ(list[1].shape.inner, 28 + 12 + 2)
      << "gradients read for their norm, read and written to be clipped; parameters in bf16";
}

OptimizerMatrixSizes of_square(plan::MuonTensorSplit form, std::int64_t cut) {
  const model::ModelParameter whole{
      .name = "mlp.fc1", .rows = 8, .columns = 4, .split = model::TensorParallelSplit::kColumn};
  const RankLocalParameter local{.name = "mlp.fc1", .rows = 8 / cut, .columns = 4};
  return stacked_matrix_sizes(whole, local, {plan::Optimizer::kMuon, form, cut});
}

TEST(Matrices, TensorRanksShareOneInThreeWays) {
  EXPECT_EQ(newton_schulz_step_flops(8, 4), 4 * 16 * 8 + 2 * 64);
  EXPECT_EQ(of_square(plan::MuonTensorSplit::kDuplicated, 1).flops, 640);
  EXPECT_EQ(of_square(plan::MuonTensorSplit::kDuplicated, 1).payload, 0);
  EXPECT_EQ(of_square(plan::MuonTensorSplit::kDuplicated, 2).flops, 640);
  EXPECT_EQ(of_square(plan::MuonTensorSplit::kDuplicated, 2).payload, 32);
  EXPECT_EQ(of_square(plan::MuonTensorSplit::kDistributed, 2).flops, 4 * 16 * 4 + 2 * 64);
  EXPECT_EQ(of_square(plan::MuonTensorSplit::kDistributed, 2).payload, 5 * 16);
  EXPECT_EQ(of_square(plan::MuonTensorSplit::kBlockwise, 2).flops, newton_schulz_step_flops(4, 4));
  EXPECT_EQ(of_square(plan::MuonTensorSplit::kBlockwise, 2).payload, 0);
}

TEST(Matrices, QueriesKeysAndValuesAreOneEachAndTablesNone) {
  model::ModelParameter whole{.name = "attention.qkv",
                              .rows = 16,
                              .columns = 4,
                              .split = model::TensorParallelSplit::kColumn};
  whole.fused = {8, 4, 4};
  const RankLocalParameter local{.name = "attention.qkv", .rows = 16, .columns = 4};
  const OptimizerMatrixSizes size = stacked_matrix_sizes(
      whole, local, {plan::Optimizer::kMuon, plan::MuonTensorSplit::kDuplicated, 1});
  EXPECT_EQ(size.count, 3);
  EXPECT_EQ(size.elements, 64);
  EXPECT_EQ(size.flops, newton_schulz_step_flops(8, 4) + 2 * newton_schulz_step_flops(4, 4));
  whole.name = "embedding.word";
  EXPECT_EQ(stacked_matrix_sizes(whole, local,
                                 {plan::Optimizer::kMuon, plan::MuonTensorSplit::kDuplicated, 1})
                .count,
            0);
  EXPECT_EQ(stacked_matrix_sizes(whole, local,
                                 {plan::Optimizer::kAdam, plan::MuonTensorSplit::kDuplicated, 1})
                .count,
            0);
}

TEST(Matrices, SumsAreOfRowsOnceAndOfColumnsForEachMatrix) {
  model::ModelParameter whole{.name = "attention.qkv",
                              .rows = 16,
                              .columns = 4,
                              .split = model::TensorParallelSplit::kColumn};
  whole.fused = {8, 4, 4};
  const auto size = [&](const RankLocalParameter& local, std::int64_t cut) {
    return stacked_matrix_sizes(
        whole, local, {plan::Optimizer::kAdafactor, plan::MuonTensorSplit::kDuplicated, cut});
  };
  const OptimizerMatrixSizes alone = size({.name = whole.name, .rows = 16, .columns = 4}, 1);
  EXPECT_EQ(alone.numbers, 16 + 3 * 4);
  EXPECT_EQ(alone.updates, 3);
  EXPECT_EQ(alone.payload + alone.cut_updates, 0) << "no message between tensor ranks";
  const OptimizerMatrixSizes cut =
      size({.name = whole.name, .rows = 8, .columns = 4, .blocks = 3}, 2);
  EXPECT_EQ(cut.numbers, 21) << "8 rows and 12 columns, in three equal blocks";
  EXPECT_EQ(cut.elements, 33);
  EXPECT_EQ(cut.payload, 12) << "columns: each rank has seen some of the rows";
  EXPECT_EQ(cut.cut_updates, 3);
  whole.split = model::TensorParallelSplit::kRow;
  EXPECT_EQ(size({.name = whole.name, .rows = 16, .columns = 2}, 2).payload, 16);
  whole.vector = true;
  const OptimizerMatrixSizes vector = size({.name = whole.name, .rows = 16, .columns = 1}, 1);
  EXPECT_EQ(vector.numbers, 0);
  EXPECT_EQ(vector.updates, 1) << "limited by its norm, too";
}

TEST(Matrices, BlocksOfEightBitsAreThoseOfWhatARankHolds) {
  const model::ModelParameter whole{.name = "mlp.fc1", .rows = 30, .columns = 40};
  const auto numbers = [&](std::int64_t blocks) {
    const RankLocalParameter local{.name = whole.name, .rows = 30, .columns = 40, .blocks = blocks};
    return stacked_matrix_sizes(whole, local,
                                {plan::Optimizer::kAdam8bit, plan::MuonTensorSplit::kDuplicated, 1})
        .numbers;
  };
  EXPECT_EQ(numbers(1), 2 * 5) << "1200 elements";
  EXPECT_EQ(numbers(4), 2 * 4 * 2) << "300 each";
}

TEST(Matrices, RanksOfSumsShareThemAndTheNormsOfUpdates) {
  plan::Job job;
  job.optimizer = plan::Optimizer::kAdafactor;
  plan::Plan plan;
  plan.parallel.data = 4;
  const OptimizerMatrixSizes matrices{
      .elements = 160, .count = 2, .numbers = 48, .updates = 5, .cut_updates = 3, .payload = 20};
  const ModelBlockParameterCounts size{.dense = 200, .dense_matrices = matrices};
  const auto sent = [&] {
    std::vector<std::int64_t> elements;
    for (const StepEndMessage& one :
         matrix_optimizer_messages(job, plan, optimizer_share(job, plan, size))) {
      elements.push_back(one.elements);
    }
    return elements;
  };
  EXPECT_EQ(sent(), (std::vector<std::int64_t>{20, 0, 0, 0, 3, 0, 0, 0, 0, 0}));
  plan.sharding.optimizer = plan::StateShardingScope::kGlobal;
  EXPECT_EQ(sent(), (std::vector<std::int64_t>{20, 48, 48, 5, 3, 0, 0, 0, 0, 0}));
  const OptimizerShare share = optimizer_share(job, plan, size);
  EXPECT_EQ(share.numbers, 12);
  EXPECT_EQ(optimizer_moment_bytes(
                job.optimizer, plan::master_copy_state_types(DType::kBf16, DType::kFp32), share),
            4 * 10 + 4 * 12);
}

}  // namespace
}  // namespace stepwright::step
