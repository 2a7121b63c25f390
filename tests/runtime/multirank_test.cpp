// Ranks as processes: they learn what one process learns, and send what the program says.
#include <gtest/gtest.h>

#include "tests/runtime/training.h"

namespace stepwright::testing {
namespace {

constexpr double kBound = 1e-9;

constexpr const char* kLlama =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250}";
constexpr const char* kTied =
    "{layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 250, norm: layernorm, gated: false, "
    "position: learned, positions: 20, bias: true, tied: true}";
constexpr const char* kNeoX =
    "{layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 250, norm: layernorm, gated: false, "
    "rotary_fraction: 0.25, bias: true, parallel_residual: true, head_bias: true}";
constexpr const char* kQwen3 =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, head_dim: 16, ffn: 48, vocab: 250, "
    "qk_norm: true}";

struct Case {
  const char* name;
  int ranks;
  const char* model;
  const char* choices;
  const char* job = "";
};

const Case kData[] = {
    {"TwoRanks", 2, kLlama, "parallel: {data: 2}\nmicro_batch: 2\n"},
    {"FourRanks", 4, kTied, "parallel: {data: 4}\nmicro_batch: 1\n"},
    {"SmallBuckets", 2, kLlama,
     "parallel: {data: 2}\nmicro_batch: 2\nbuckets: {gradients: 1000, parameters: 700}\n"},
    {"NotOverlapped", 2, kLlama,
     "parallel: {data: 2}\nmicro_batch: 2\noverlap: {gradients: false, parameters: false}\n"},
};

const Case kTensor[] = {
    {"Plain", 2, kLlama, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"Sequence", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: keep\nmicro_batch: 2\n"},
    {"Regather", 2, kTied,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: regather\nmicro_batch: 2\n"},
    {"BiasesPlain", 2, kNeoX, "parallel: {tensor: 2}\nmicro_batch: 4\n",
     "  kernels: {fused_cross_entropy: true}\n"},
    {"BiasesSequence", 4, kNeoX,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\n"},
    {"HeadNorms", 2, kQwen3, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"HeadNormsSequence", 2, kQwen3,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\nrecompute: full\n"},
    {"NoSideStream", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\nrecompute: selective\n"
     "overlap: {tensor_gradients: false}\n"},
};

const Case kPipeline[] = {
    {"OneForwardOneBackward", 2, kLlama, "parallel: {pipeline: 2}\nmicro_batch: 1\n"},
    {"Gpipe", 4, kTied, "parallel: {pipeline: 4}\nmicro_batch: 2\nschedule: gpipe\n"},
    {"Interleaved", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: interleaved, chunks: 2}\n"},
    {"TiedWithTensor", 4, kTied,
     "parallel: {pipeline: 2, tensor: 2}\nsequence_parallel: true\nmicro_batch: 1\n"},
    {"NotOverlapped", 4, kLlama,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\noverlap: {pipeline: false}\n"
     "recompute: {every: 2}\n"},
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class Ranks : public ::testing::TestWithParam<Case> {};

TEST_P(Ranks, LearnWhatOneProcessLearns) {
  const Case& one = GetParam();
  const std::string job = std::string("  optimizer: adamw\n") + one.job;
  const Trained alone = train({.plan = plan_text_of({.model = one.model, .job = job})});
  ASSERT_EQ(alone.exit_code, 0) << alone.errors;
  const Trained together = train({.plan = plan_text_of({.model = one.model,
                                                        .job = job,
                                                        .choices = one.choices,
                                                        .ranks = one.ranks})});
  ASSERT_EQ(together.exit_code, 0) << together.errors;
  ASSERT_EQ(alone.losses.size(), together.losses.size());
  for (std::size_t i = 0; i < alone.losses.size(); ++i) {
    EXPECT_NEAR(alone.losses[i], together.losses[i], kBound * (1 + alone.losses[i]));
    EXPECT_NEAR(alone.norms[i], together.norms[i], kBound * (1 + alone.norms[i]));
  }
  EXPECT_LE(distance(alone.gradients, together.gradients), kBound);
  EXPECT_LE(distance(alone.weights, together.weights), kBound);
  EXPECT_EQ(all_zero(together.gradients), std::vector<std::string>{});
}

constexpr auto kName = [](const auto& one) { return std::string(one.param.name); };
INSTANTIATE_TEST_SUITE_P(Data, Ranks, ::testing::ValuesIn(kData), kName);
INSTANTIATE_TEST_SUITE_P(Tensor, Ranks, ::testing::ValuesIn(kTensor), kName);
INSTANTIATE_TEST_SUITE_P(Pipeline, Ranks, ::testing::ValuesIn(kPipeline), kName);

}  // namespace
}  // namespace stepwright::testing
