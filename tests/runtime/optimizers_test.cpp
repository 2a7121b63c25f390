// Optimizers that treat matrices separately, on several ranks: they learn what one process learns,
// and send what is predicted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/runtime/ranks.h"

namespace stepwright::testing {
namespace {

constexpr const char* kTiedLlama =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250, tied: true}";
constexpr const char* kMixture =
    "{layers: 2, hidden: 32, heads: 4, vocab: 250, ffn: 48, experts: {count: 4, top_k: 2, ffn: 24, "
    "shared_ffn: 40, shared_gate: true, leading_dense: 1}}";
constexpr const char* kEvenMixture =
    "{layers: 4, hidden: 32, heads: 4, vocab: 250, ffn: 48, experts: {count: 4, top_k: 2, ffn: "
    "24}}";
constexpr const char* kAdafactor = "adafactor";

const RankCase kAdafactorCases[] = {
    {"AdafactorData", 2, kLlama, "parallel: {data: 2}\nmicro_batch: 2\n", "", "", kAdafactor},
    {"AdafactorTensor", 2, kLlama, "parallel: {tensor: 2}\nmicro_batch: 2\n", "", "", kAdafactor},
    {"AdafactorSequence", 2, kTiedLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\n", "", "", kAdafactor},
    {"AdafactorTiedStages", 4, kTiedLlama, "parallel: {tensor: 2, pipeline: 2}\nmicro_batch: 2\n",
     "", "", kAdafactor},
    {"AdafactorContext", 2, kLlama, "parallel: {context: 2}\nmicro_batch: 2\nsharding: NNG\n", "",
     "", kAdafactor},
    {"AdafactorTensorShards", 4, kTiedLlama,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\nsharding: GGG\n", "",
     "", kAdafactor},
    {"AdafactorExperts", 4, kMixture,
     "parallel: {tensor: 2, data: 2, expert: 2, expert_tensor: 2}\nsequence_parallel: true\n"
     "micro_batch: 1\n",
     "", "", kAdafactor},
    {"AdafactorExpertShards", 4, kMixture,
     "parallel: {data: 4, expert: 2}\nmicro_batch: 1\n"
     "sharding: {states: NIG, group: 2, expert_group: 2}\n",
     "", "", kAdafactor},
};

/// Tensor ranks with a distributed or a duplicated update, and with shards that contain equal parts
/// of all matrices.
constexpr const char* kMuon = "muon";
constexpr const char* kDistributed = "  muon: distributed\n";
const RankCase kMuonCases[] = {
    {"MuonTensor", 2, kLlama, "parallel: {tensor: 2}\nmicro_batch: 2\n", "", "", kMuon},
    {"MuonDistributed", 2, kTiedLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\n", kDistributed, "", kMuon},
    {"MuonShards", 4, kLlama, "parallel: {data: 4}\nmicro_batch: 1\nsharding: GGG\n", "", "",
     kMuon},
    {"MuonGroups", 4, kLlama,
     "parallel: {data: 4}\nmicro_batch: 1\nsharding: {states: IIG, group: 2}\n", "", "", kMuon},
    {"MuonInnerShards", 4, kLlama,
     "parallel: {data: 4}\nmicro_batch: 1\nsharding: {states: NII, group: 2}\n", "", "", kMuon},
    {"MuonTensorShards", 4, kTiedLlama,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\nsharding: NGG\n", "",
     "", kMuon},
    {"MuonDistributedShards", 4, kLlama,
     "parallel: {tensor: 2, data: 2}\nmicro_batch: 1\nsharding: GGG\n", kDistributed, "", kMuon},
    {"MuonPipelineShards", 4, kLlama,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nsharding: NGG\n", "", "", kMuon},
    {"MuonOwners", 4, kLlama,
     "parallel: {data: 4}\nmicro_batch: 1\nsharding: NNG\nbuckets: {gradients: 3001, parameters: "
     "2003}\noverlap: {gradients: false, parameters: false}\n",
     "", "", kMuon},
    {"MuonOwnersInGroups", 4, kLlama,
     "parallel: {data: 4}\nmicro_batch: 1\nsharding: {states: NNI, group: 2}\n"
     "overlap: {gradients: false, parameters: false}\n",
     "", "", kMuon},
    {"MuonTensorOwners", 4, kTiedLlama,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\nsharding: NNG\n"
     "overlap: {gradients: false, parameters: false}\n",
     kDistributed, "", kMuon},
    {"MuonExperts", 4, kMixture,
     "parallel: {tensor: 2, data: 2, expert: 2, expert_tensor: 2}\nsequence_parallel: true\n"
     "micro_batch: 1\n",
     kDistributed, "", kMuon},
    {"MuonExpertShards", 4, kEvenMixture,
     "parallel: {data: 4, expert: 2}\nmicro_batch: 1\nsharding: GGG\n", "", "", kMuon},
};

/// Blocks of 256 elements equal those of whole parameters if no parameter is cut.
const RankCase kEightBitCases[] = {
    {"EightBitsData", 2, kLlama, "parallel: {data: 2}\nmicro_batch: 2\n", "", "", "adam8bit"},
    {"EightBitsPipeline", 2, kLlama, "parallel: {pipeline: 2}\nmicro_batch: 2\n", "", "",
     "adam8bit"},
};

class OptimizerRanks : public ::testing::TestWithParam<RankCase> {};

TEST_P(OptimizerRanks, LearnWhatOneProcessLearns) { expect_what_one_process_learns(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Adafactor, OptimizerRanks, ::testing::ValuesIn(kAdafactorCases),
                         [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(Muon, OptimizerRanks, ::testing::ValuesIn(kMuonCases),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(EightBitOptimizerMoments, OptimizerRanks,
                         ::testing::ValuesIn(kEightBitCases),
                         [](const auto& one) { return std::string(one.param.name); });

/// Each tensor rank orthogonalises its shard of a matrix, which differs from one process, but it
/// learns.
TEST(OptimizerForms, BlockwiseSendsNoMatricesAndLearns) {
  const auto run = [](const char* form) {
    return train({.plan = plan_text_of({.model = kLlama,
                                        .job = fmt::format("  optimizer: muon\n  muon: {}\n", form),
                                        .choices = "parallel: {tensor: 2}\nmicro_batch: 2\n",
                                        .ranks = 2}),
                  .steps = 8,
                  .options = {"--lr 0.01"}});
  };
  const Trained parts = run("blockwise");
  const Trained whole = run("duplicated");
  ASSERT_EQ(parts.exit_code, 0) << parts.errors;
  EXPECT_NE(parts.comparison.find("; the run differs in 0."), std::string::npos)
      << parts.comparison;
  EXPECT_LT(parts.losses.back(), parts.losses.front() - 0.3);
  EXPECT_EQ(parts.losses.front(), whole.losses.front());
  EXPECT_NE(parts.losses.back(), whole.losses.back());
}

TEST(OptimizerForms, EightBitsOfShardsLearnAlikeWithinTheirRounding) {
  const auto run = [](const char* choices, int ranks) {
    return train({.plan = plan_text_of({.model = kLlama,
                                        .job = "  optimizer: adam8bit\n",
                                        .choices = choices,
                                        .ranks = ranks}),
                  .steps = 6});
  };
  const Trained alone = run("", 1);
  const Trained together = run(
      "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\nsharding: GGG\n",
      4);
  ASSERT_EQ(together.exit_code, 0) << together.errors;
  EXPECT_NEAR(together.losses.back(), alone.losses.back(), 1e-3 * alone.losses.back());
  EXPECT_NE(together.comparison.find("; the run differs in 0."), std::string::npos)
      << together.comparison;
}

TEST(OptimizerForms, MuonRefusesMatricesThatRanksCannotShareEqually) {
  const auto refusal = [](const char* model, const char* choices, int ranks) {
    const Trained run = train(
        {.plan = plan_text_of(
             {.model = model, .job = "  optimizer: muon\n", .choices = choices, .ranks = ranks})});
    EXPECT_EQ(run.exit_code, 3) << run.errors;
    return run.errors;
  };
  EXPECT_NE(refusal(kLlama, "parallel: {data: 2}\nmicro_batch: 1\nsharding: NNG\n", 2)
                .find("muon by owner with gradients or parameters that travel block by block"),
            std::string::npos);
  constexpr const char* kThree =
      "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250}";
  EXPECT_NE(refusal(kThree, "parallel: {data: 2}\nmicro_batch: 1\nsharding: NGG\n", 2)
                .find("there are 3 of the shape of layers.0"),
            std::string::npos);
  EXPECT_NE(refusal(kThree,
                    "parallel: {data: 2}\nmicro_batch: 1\nsharding: NNG\n"
                    "overlap: {gradients: false, parameters: false}\n",
                    2)
                .find("there are 3 of"),
            std::string::npos);
}

/// Sums that four ranks do not divide evenly.
class OptimizerStrategies : public ::testing::TestWithParam<std::string> {};

TEST_P(OptimizerStrategies, LearnWhatOneProcessLearns) {
  const bool grouped = GetParam().find('I') != std::string::npos;
  const std::string choices =
      "parallel: {data: 4}\nmicro_batch: 1\nbuckets: {gradients: 3001}\nsharding: {states: " +
      GetParam() + (grouped ? ", group: 2}\n" : "}\n");
  expect_what_one_process_learns({.name = "",
                                  .ranks = 4,
                                  .model = kTiedLlama,
                                  .choices = choices.c_str(),
                                  .optimizer = kAdafactor});
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerStrategies,
                         ::testing::Values("NNI", "NNG", "NIG", "NGG", "III", "GGG"));

}  // namespace
}  // namespace stepwright::testing
