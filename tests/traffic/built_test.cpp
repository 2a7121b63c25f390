// Traffic of the programs that `build_step_program` builds.
#include <gmock/gmock.h>

#include <map>
#include <tuple>
#include <vector>

#include "stepwright/schedule/kinds.h"
#include "stepwright/step/setting.h"
#include "stepwright/traffic/ledger.h"
#include "stepwright/traffic/matrix.h"
#include "tests/traffic/programs.h"

namespace stepwright::traffic {
namespace {

using testing::plan_of;

/// Returns a GPT of 24 layers with messages of 125 MB: 2 bytes x 10 x 2,000 tokens x 3,125; 2.96e9
/// parameters.
plan::Job gpt_3b() {
  plan::Job job;
  job.model.layers = 24;
  job.model.hidden = 3125;
  job.model.heads = 40;
  job.model.kv_heads = 40;
  job.model.head_dim = 78;
  job.model.ffn = 12'504;
  job.model.vocabulary = 24'064;
  job.model.gated = false;
  job.model.norm = model::Norm::kLayer;
  job.model.qkv_bias = job.model.attention_output_bias = job.model.mlp_bias = true;
  job.sequences = 80;
  job.length = 2000;
  return job;
}

plan::Plan plan_of_gpt_3b() {
  plan::Plan plan = plan_of({.tensor = 8, .pipeline = 2, .data = 2});
  plan.micro_batch = 10;
  plan.accumulate = DType::kBf16;
  return plan;
}

/// Returns the bytes sent by scheme, averaged over ranks.
std::map<step::ParallelismScheme, double> sent_per_rank(const plan::Job& job,
                                                        const plan::Plan& plan) {
  const step::StepProgram program = step::build_step_program(job, plan);
  std::map<step::ParallelismScheme, double> result;
  for (const auto& [scheme, volume] : traffic_totals_by_scheme(
           count_traffic_of_step(program, std::nullopt, plan::RankGrid(plan)))) {
    result[scheme] = volume.sent_bytes / static_cast<double>(program.ranks);
  }
  return result;
}

// "Understanding Communication Characteristics of Distributed Training" (APNet 2024), GPT-3B on 32
// GPUs: 85 GB of tensor, 1 GB of pipeline, 741 MB of data parallelism per GPU and step, sent and
// received.
TEST(BuiltProgram, HasTheVolumesOfAPublishedGpt3B) {
  auto sent = sent_per_rank(gpt_3b(), plan_of_gpt_3b());
  EXPECT_NEAR(2 * sent[step::ParallelismScheme::kTensor], 85e9, 0.02 * 85e9);
  EXPECT_NEAR(2 * sent[step::ParallelismScheme::kPipeline], 1e9, 0.05 * 1e9);
  EXPECT_NEAR(2 * sent[step::ParallelismScheme::kData], 741e6, 0.01 * 741e6);
}

TEST(BuiltProgram, HasTheMessageSizeOfAPublishedGpt3B) {
  const plan::Plan plan = plan_of_gpt_3b();
  const step::StepProgram program = step::build_step_program(gpt_3b(), plan);
  for (const TrafficLedgerRow& message :
       count_traffic_of_step(program, std::nullopt, plan::RankGrid(plan)).messages) {
    const bool of_the_loss = message.payload_bytes == 80'000;  // 20,000 tokens in fp32
    const bool at_the_end = message.phase == step::Phase::kOptimizer;
    if (message.scheme == step::ParallelismScheme::kPipeline ||
        (message.scheme == step::ParallelismScheme::kTensor && !of_the_loss && !at_the_end)) {
      EXPECT_EQ(message.payload_bytes, 125'000'000);
    }
  }
}

/// Returns a small job whose layers use every kind of parallelism.
plan::Job small_job() {
  plan::Job job;
  job.model.layers = 8;
  job.model.hidden = 64;
  job.model.heads = 8;
  job.model.kv_heads = 8;
  job.model.head_dim = 8;
  job.model.ffn = 256;
  job.model.vocabulary = 1024;
  job.model.tied = true;
  job.sequences = 32;
  job.length = 128;
  return job;
}

plan::Plan small_plan() {
  plan::Plan plan = plan_of({.tensor = 4, .pipeline = 4, .data = 4});
  plan.micro_batch = 1;
  return plan;
}

constexpr double kActivation = 2.0 * 128 * 64;  ///< X: bytes of the residual stream.
/// Layers times micro-batches, per stage and step.
constexpr double kLayersTimesBatches = 2 * 8.0;

/// Returns the tensor-parallel bytes that a rank in the middle of the pipeline sends.
double middle_tensor_bytes(const plan::Plan& plan) {
  const step::StepProgram program = step::build_step_program(small_job(), plan);
  const plan::RankGrid grid(plan);
  const std::int64_t rank = grid.rank_at_coordinates(1, 0, 1, 1);
  TrafficLedger layers = count_traffic_of_step(program, rank, grid);
  std::erase_if(layers.messages,
                [](const TrafficLedgerRow& m) { return m.phase == step::Phase::kOptimizer; });
  return traffic_totals_by_scheme(layers)[step::ParallelismScheme::kTensor].sent_bytes;
}

/// Returns the bytes of `count` half all-reduces per layer and micro-batch; half of a ring
/// all-reduce over 4 ranks sends 3/4 of the activation.
double halves(double count) { return count * kLayersTimesBatches * 3.0 / 4 * kActivation; }

// Per layer and micro-batch, in halves of an all-reduce (traffic notes, section 2): 4 all-reduces;
// under sequence parallelism 4 + 4, with gathered inputs dropped 2 more; full recomputation runs
// the forward's again.
TEST(BuiltProgram, SendsWhatTensorParallelismCosts) {
  plan::Plan plan = small_plan();
  EXPECT_DOUBLE_EQ(middle_tensor_bytes(plan), halves(8));
  plan.recompute.kind = plan::RecomputeKind::kFull;
  EXPECT_DOUBLE_EQ(middle_tensor_bytes(plan), halves(12));
  plan.recompute = {.stages = {{.position = 1, .kind = plan::RecomputeKind::kFull}}};
  EXPECT_DOUBLE_EQ(middle_tensor_bytes(plan), halves(12));
  plan.recompute = {.stages = {{.position = 0, .kind = plan::RecomputeKind::kFull}}};
  EXPECT_DOUBLE_EQ(middle_tensor_bytes(plan), halves(8));
}

TEST(BuiltProgram, SendsWhatSequenceParallelismCosts) {
  plan::Plan plan = small_plan();
  plan.sequence_parallel = true;
  plan.tensor_input = plan::GatheredInputPolicy::kKeep;
  EXPECT_DOUBLE_EQ(middle_tensor_bytes(plan), halves(8));
  plan.tensor_input = plan::GatheredInputPolicy::kRegather;
  EXPECT_DOUBLE_EQ(middle_tensor_bytes(plan), halves(10));
  plan.recompute.kind = plan::RecomputeKind::kSelective;
  EXPECT_DOUBLE_EQ(middle_tensor_bytes(plan), halves(10));
  plan.recompute.kind = plan::RecomputeKind::kFull;
  EXPECT_DOUBLE_EQ(middle_tensor_bytes(plan), halves(14));
}

TEST(BuiltProgram, ReceivesWhatItSends) {
  plan::Plan plan = small_plan();
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 2};
  const step::StepProgram program = step::build_step_program(small_job(), plan);
  std::map<step::OperatorKind, std::int64_t> calls;
  for (const TrafficLedgerRow& message :
       count_traffic_of_step(program, std::nullopt, plan::RankGrid(plan)).messages) {
    calls[message.operation] += message.count;
  }
  // 8 chunks have 7 boundaries, crossed twice by 8 micro-batches on 16 ranks of a stage.
  EXPECT_EQ(calls[step::OperatorKind::kSend], 7 * 2 * 8 * 16);
  EXPECT_EQ(calls[step::OperatorKind::kReceive], calls[step::OperatorKind::kSend]);
}

// For each micro-batch each rank hands rows out twice (to the head, gradients to the embedding) and
// sums them twice (the reverse), beside the loss: maximum, target and sum.
TEST(BuiltProgram, PositionsThatShareTheVocabularyExchangeRows) {
  const plan::Job job = small_job();
  plan::Plan plan = small_plan();
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kSpreadVocabulary};
  const step::StepProgram program = step::build_step_program(job, plan);
  const std::int64_t micro = plan::micro_batches_per_pipeline(job, plan);
  const step::StepBuildSettings setting = step::make_setting(job, plan);
  std::map<step::OperatorKind, std::int64_t> calls;
  std::map<step::OperatorKind, std::int64_t> rows;
  for (const TrafficLedgerRow& message :
       count_traffic_of_step(program, std::nullopt, plan::RankGrid(plan)).messages) {
    if (message.group != plan::CommunicatorKind::kPipeline ||
        message.scheme != step::ParallelismScheme::kPipeline)
      continue;
    calls[message.operation] += message.count;
    const bool whole = message.payload_bytes ==
                       bytes_of_elements(setting.storage, setting.rows * setting.model->hidden);
    if (whole) rows[message.operation] += message.count;
  }
  const std::int64_t each = micro * program.ranks;
  EXPECT_EQ(calls[step::OperatorKind::kBroadcast], 2 * each);
  EXPECT_EQ(rows[step::OperatorKind::kBroadcast], 2 * each);
  EXPECT_EQ(rows[step::OperatorKind::kAllReduce], 2 * each);
  EXPECT_EQ(calls[step::OperatorKind::kAllReduce], (2 + 3) * each);
}

// Where they do not meet for it they exchange the same rows; of the loss maximum, sum and target
// one by one. One barrier: the gradient of the rows goes with them, and is one message all the
// same.
TEST(BuiltProgram, PositionsThatDoNotMeetExchangeTheSameRows) {
  const plan::Job job = small_job();
  plan::Plan plan = small_plan();
  for (const schedule::PipelineScheduleKind kind :
       {schedule::PipelineScheduleKind::kVocabularyOne,
        schedule::PipelineScheduleKind::kVocabularyTwo}) {
    plan.schedule = {.kind = kind};
    const step::StepProgram program = step::build_step_program(job, plan);
    const std::int64_t each = plan::micro_batches_per_pipeline(job, plan) * program.ranks;
    const step::StepBuildSettings setting = step::make_setting(job, plan);
    const std::int64_t rows =
        bytes_of_elements(setting.storage, setting.rows * setting.model->hidden);
    const std::int64_t numbers = bytes_of_elements(setting.exact, setting.tokens);
    std::map<std::pair<step::OperatorKind, std::int64_t>, std::int64_t> calls;
    for (const TrafficLedgerRow& message :
         count_traffic_of_step(program, std::nullopt, plan::RankGrid(plan)).messages) {
      if (message.group != plan::CommunicatorKind::kPipeline ||
          message.scheme != step::ParallelismScheme::kPipeline)
        continue;
      if (message.operation == step::OperatorKind::kSend ||
          message.operation == step::OperatorKind::kReceive) {
        continue;
      }
      calls[{message.operation, message.payload_bytes}] += message.count;
    }
    const std::map<std::pair<step::OperatorKind, std::int64_t>, std::int64_t> expected = {
        {{step::OperatorKind::kBroadcast, rows}, 2 * each},
        {{step::OperatorKind::kAllReduce, rows}, 2 * each},
        {{step::OperatorKind::kAllReduce, numbers}, 3 * each}};
    EXPECT_EQ(calls, expected) << name_of(schedule::kScheduleKindNames, kind);
  }
}

TEST(BuiltProgram, SendsTheSameWithTwoStrands) {
  plan::Job job = small_job();
  job.cluster = testing::cluster_of(8, 8);
  job.sequences = 64;  // STP needs at least three micro-batches per stage.
  for (const schedule::PipelineScheduleKind kind :
       {schedule::PipelineScheduleKind::kFolded, schedule::PipelineScheduleKind::kDualPipeV,
        schedule::PipelineScheduleKind::kPaired, schedule::PipelineScheduleKind::kStp}) {
    using Row =
        std::tuple<step::ParallelismScheme, step::OperatorKind, std::int64_t, std::int64_t, double>;
    const auto sent = [&](std::int64_t strands) {
      plan::Plan plan = small_plan();
      plan.schedule = {.kind = kind, .chunks = 2, .strands = strands};
      std::vector<Row> rows;
      for (const TrafficLedgerRow& m : count_traffic_of_step(step::build_step_program(job, plan),
                                                             std::nullopt, plan::RankGrid(plan))
                                           .messages) {
        rows.emplace_back(m.scheme, m.operation, m.payload_bytes, m.count, m.sent_bytes_per_rank);
      }
      return rows;
    };
    EXPECT_FALSE(sent(1).empty());
    EXPECT_EQ(sent(1), sent(2)) << name_of(schedule::kScheduleKindNames, kind);
  }
}

TEST(BuiltProgram, SendsRoundThePipelineWhenInterleaved) {
  plan::Plan plan = small_plan();
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 2};
  const plan::RankGrid grid(plan);
  const TrafficMatrix matrix(step::build_step_program(small_job(), plan), grid,
                             testing::cluster_of(8, 8), plan.collectives);
  const std::int64_t last = grid.rank_at_coordinates(1, 0, 2, 3);
  const std::int64_t first = grid.rank_at_coordinates(1, 0, 2, 0);
  const auto bytes = [&](std::int64_t from, std::int64_t to) {
    for (const TrafficEdge& edge : matrix.traffic_sent_by_rank(from)) {
      if (edge.to == to) return edge.bytes;
    }
    return 0.0;
  };
  const double table = 4.0 * 1024 / 4 * 64;  // the tied table's gradients travel the same way
  EXPECT_DOUBLE_EQ(bytes(last, first), 8 * kActivation + table);
  EXPECT_DOUBLE_EQ(bytes(first, last), 8 * kActivation + table);
  EXPECT_DOUBLE_EQ(bytes(last, last - 16), 2 * 8 * kActivation);
}

TEST(BuiltProgram, HasAMatrixThatAddsUpToTheLedger) {
  plan::Plan plan = small_plan();
  plan.sharding = {.parameters = plan::StateShardingScope::kInner,
                   .gradients = plan::StateShardingScope::kInner,
                   .optimizer = plan::StateShardingScope::kGlobal,
                   .group = 2};
  plan.collectives.data = collective::CollectiveAlgorithm::kTwoLevel;
  const step::StepProgram program = step::build_step_program(small_job(), plan);
  const plan::RankGrid grid(plan);
  const TrafficMatrix matrix(program, grid, testing::cluster_of(8, 8), plan.collectives);
  for (std::int64_t rank = 0; rank < program.ranks; ++rank) {
    double expected = 0;
    for (const auto& [scheme, volume] :
         traffic_totals_by_scheme(count_traffic_of_step(program, rank, grid))) {
      expected += volume.sent_bytes;
    }
    double sent = 0;
    for (const TrafficEdge& edge : matrix.traffic_sent_by_rank(rank)) sent += edge.bytes;
    EXPECT_NEAR(sent, expected, 1e-9 * expected);
  }
}

// Balanced, the four all-to-alls of an expert layer are one symmetric matrix: combine is the
// transpose of dispatch, each backward is the transpose of its forward (2512.24750).
TEST(BuiltProgram, HasTransposedDispatchAndCombine) {
  plan::Job job = small_job();
  job.model.experts = model::MixtureOfExperts{.count = 8, .top_k = 2, .ffn = 96};
  plan::Plan plan = plan_of({.expert = 4, .data = 8});
  const step::StepProgram program = step::build_step_program(job, plan);
  const plan::RankGrid grid(plan);
  TrafficLedger exchanges = count_traffic_of_step(program, std::nullopt, grid);
  std::erase_if(exchanges.messages, [](const TrafficLedgerRow& m) {
    return m.operation != step::OperatorKind::kAllToAll;
  });
  std::map<step::Phase, std::int64_t> calls;
  for (const TrafficLedgerRow& message : exchanges.messages) calls[message.phase] += message.count;
  EXPECT_EQ(calls[step::Phase::kForward], calls[step::Phase::kDataGradient]);

  const TrafficMatrix matrix(program, grid, testing::cluster_of(1, 8), plan.collectives);
  const auto bytes = [&](std::int64_t from, std::int64_t to) {
    for (const TrafficEdge& edge : matrix.traffic_sent_by_rank(from)) {
      if (edge.to == to) return edge.bytes;
    }
    return 0.0;
  };
  EXPECT_GT(bytes(0, 2), 0);
  EXPECT_DOUBLE_EQ(bytes(0, 2), bytes(2, 0));
  EXPECT_EQ(bytes(0, 5), 0);
}

}  // namespace
}  // namespace stepwright::traffic
