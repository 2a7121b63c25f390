#include "stepwright/step/loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "stepwright/step/forwards.h"
#include "stepwright/step/work.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

// Llama-3-8B: rows of 4,096, a vocabulary of 128,256, 8,192 tokens on a rank.
constexpr double kLossTokens = 8192;
constexpr double kLossHidden = 4096;
constexpr double kLossVocabulary = 128256;
constexpr double kProduct = 2 * kLossTokens * kLossHidden * kLossVocabulary;

StepProgram program_of(std::int64_t chunks, plan::LossSavedTensors keeps, std::int64_t tensor = 1) {
  plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  job.kernels.cross_entropy = plan::CrossEntropyKernel::kCompiled;
  job.kernels.loss_chunks = chunks;
  job.kernels.loss_keeps = keeps;
  return build_step_program(job, plan_of(job, tensor, 1));
}

const OperatorTemplate& piece_of(const StepProgram& program, std::string_view name) {
  return *std::ranges::find(program.templates, name, &OperatorTemplate::name);
}

double products(const OperatorTemplate& piece, Phase phase) {
  double sum = 0;
  for (const Operator& op : piece.operators) {
    if (op.kind == OperatorKind::kLinear && op.phase == phase) sum += operator_flops(op);
  }
  return sum;
}

double bytes_saved(const OperatorTemplate& piece) {
  double sum = 0;
  for (const TensorId id : piece.saved) {
    sum += static_cast<double>(piece.tensors[static_cast<std::size_t>(id)].bytes());
  }
  return sum;
}

/// Returns the row counts of tensors that are as wide as the vocabulary.
std::set<std::int64_t> rows_of_logits(const OperatorTemplate& piece) {
  std::set<std::int64_t> rows;
  for (const TemplateTensor& tensor : piece.tensors) {
    if (tensor.extents[1] == static_cast<std::int64_t>(kLossVocabulary))
      rows.insert(tensor.extents[0]);
  }
  return rows;
}

/// Bytes that a forward pass keeps besides logits: the input of the norm and its statistics.
constexpr double kOfNorm = kLossTokens * (2 * kLossHidden + 4);
constexpr double kLossRows = 2 * kLossTokens * kLossHidden;

TEST(Loss, ChunksKeepAllLogitsAndHaveOneGradientAtATime) {
  const StepProgram program = program_of(8, plan::LossSavedTensors::kLogits);
  const OperatorTemplate& forward = piece_of(program, "head.forward");
  const OperatorTemplate& backward = piece_of(program, "head.backward");
  // In bf16, with the input of the head, and two numbers of each token in fp32.
  EXPECT_EQ(bytes_saved(forward), kOfNorm + kLossRows + kLossTokens * (2 * kLossVocabulary + 8));
  EXPECT_EQ(rows_of_logits(backward), std::set<std::int64_t>{1024});
  EXPECT_EQ(products(forward, Phase::kForward), kProduct);
  EXPECT_EQ(products(backward, Phase::kDataGradient), kProduct);
  EXPECT_EQ(products(backward, Phase::kWeightGradient), kProduct);
}

TEST(Loss, AForwardThatGoesOnKeepsGradients) {
  const StepProgram program = program_of(0, plan::LossSavedTensors::kGradients);
  const OperatorTemplate& forward = piece_of(program, "head.forward");
  const OperatorTemplate& backward = piece_of(program, "head.backward");
  EXPECT_EQ(bytes_saved(forward), kOfNorm + kLossRows + 2 * kLossHidden * kLossVocabulary);
  EXPECT_EQ(rows_of_logits(forward), std::set<std::int64_t>{256}) << "32 chunks, as V / h is 31.3";
  for (const Phase phase : {Phase::kForward, Phase::kDataGradient, Phase::kWeightGradient}) {
    EXPECT_EQ(products(forward, phase), kProduct);
    EXPECT_EQ(products(backward, phase), 0);
  }
}

TEST(Loss, AForwardAloneMakesNoGradients) {
  plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  job.kernels.loss_keeps = plan::LossSavedTensors::kGradients;
  for (const OperatorTemplate& piece : forward_only_program(job, plan_of(job, 1, 1)).templates) {
    if (piece.name != "head.forward") continue;
    EXPECT_TRUE(std::ranges::none_of(
        piece.operators, [](const Operator& op) { return is_backward_phase(op.phase); }));
  }
}

TEST(Loss, ChunksThatKeepRowsMakeTheirLogitsAgain) {
  const StepProgram program = program_of(5, plan::LossSavedTensors::kRows);
  const OperatorTemplate& backward = piece_of(program, "head.backward");
  EXPECT_EQ(bytes_saved(piece_of(program, "head.forward")), kOfNorm + kLossRows);
  EXPECT_EQ(products(backward, Phase::kRecompute), kProduct);
  const std::set<std::int64_t> nearly_equal = {1638, 1639};
  EXPECT_EQ(rows_of_logits(backward), nearly_equal) << "8,192 is no multiple of 5";
}

TEST(Loss, ACutOneWritesNoLogits) {
  const StepProgram program = program_of(1, plan::LossSavedTensors::kSums);
  const OperatorTemplate& forward = piece_of(program, "head.forward");
  const OperatorTemplate& backward = piece_of(program, "head.backward");
  EXPECT_EQ(bytes_saved(forward), kOfNorm + kLossRows + kLossTokens * 3 * 4);
  EXPECT_TRUE(rows_of_logits(forward).empty());
  EXPECT_TRUE(rows_of_logits(backward).empty());
  EXPECT_EQ(products(backward, Phase::kRecompute), kProduct);
  EXPECT_EQ(products(backward, Phase::kWeightGradient), kProduct);
}

// A tile of 4,096 tokens by 32,768 entries in bf16, and sums of both gradients in fp32.
TEST(Loss, ATiledOneHoldsATileAndSumsInFp32) {
  const StepProgram program = program_of(1, plan::LossSavedTensors::kTiles);
  const OperatorTemplate& forward = piece_of(program, "head.forward");
  const OperatorTemplate& backward = piece_of(program, "head.backward");
  EXPECT_EQ(bytes_saved(forward), kOfNorm + kLossRows + kLossTokens * 3 * 4);
  const auto bytes_of = [](const OperatorTemplate& piece, std::string_view name) {
    std::multiset<double> bytes;
    for (const TemplateTensor& tensor : piece.tensors) {
      if (tensor.name == name) bytes.insert(static_cast<double>(tensor.bytes()));
    }
    return bytes;
  };
  const std::multiset<double> tile = {2.0 * 4096 * 32768};
  EXPECT_EQ(bytes_of(forward, "tile"), tile);
  EXPECT_EQ(bytes_of(backward, "tile"), tile);
  EXPECT_TRUE(bytes_of(backward, "wide_sum").contains(4 * kLossTokens * kLossHidden));
  EXPECT_TRUE(bytes_of(backward, "wide_sum").contains(4 * kLossVocabulary * kLossHidden));
  EXPECT_EQ(products(backward, Phase::kRecompute), kProduct);
  EXPECT_EQ(products(backward, Phase::kWeightGradient), kProduct);
}

// torchtitan 0.3.0 torchtitan/components/loss.py, ChunkedLossWrapper: gradients of rows in fp32 for
// all tokens; when the loop returns its variables are there: the rows, copies of two sequences'
// chunks, the logits of the last chunk and the gradient of its rows.
TEST(Loss, ALoopOverChunksHoldsItsVariables) {
  plan::Job job = job_of("llama-3-8b", 1, 16, 4096);
  job.kernels.plain_loss = true;
  job.kernels.fused_accumulation = false;
  job.kernels.loss_chunks = 8;
  job.kernels.loss_keeps = plan::LossSavedTensors::kGradients;
  const auto bytes_at_the_end = [&](std::int64_t micro_batch) {
    plan::Plan plan = plan_of(job, 1, 1);
    plan.micro_batch = micro_batch;
    const StepProgram program = build_step_program(job, plan);
    const OperatorTemplate& forward = piece_of(program, "head.forward");
    double bytes = 0;
    for (const TensorId id : forward.reads(forward.operators.back())) {
      bytes += static_cast<double>(forward.tensors[static_cast<std::size_t>(id)].bytes());
    }
    return bytes;
  };
  const double of_chunk = kLossTokens / 8 * (2 * kLossVocabulary + 2 * kLossHidden);
  EXPECT_EQ(bytes_at_the_end(2), kLossTokens * (4 + 2 + 2) * kLossHidden + of_chunk);
  EXPECT_EQ(bytes_at_the_end(1), (kLossTokens * (4 + 2) * kLossHidden + of_chunk) / 2)
      << "chunks of one sequence are views";
}

TEST(Loss, EveryChunkOfASharedVocabularySendsItsOwnNumbers) {
  const auto sent = [](std::int64_t chunks) {
    std::vector<std::int64_t> payloads;
    const StepProgram program = program_of(chunks, plan::LossSavedTensors::kLogits, 2);
    for (const Operator& op : piece_of(program, "head.forward").operators) {
      if (op.kind == OperatorKind::kAllReduce) payloads.push_back(op.payload_elements);
    }
    return payloads;
  };
  EXPECT_EQ(sent(1), (std::vector<std::int64_t>{8192, 16384}));
  EXPECT_EQ(sent(2), (std::vector<std::int64_t>{4096, 8192, 4096, 8192}));
}

}  // namespace
}  // namespace stepwright::step
