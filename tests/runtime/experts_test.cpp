// Ranks that share experts learn what one process learns, and send what the program predicts.
#include <gtest/gtest.h>

#include "tests/runtime/ranks.h"

namespace stepwright::testing {
namespace {

constexpr const char* kExperts =
    "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250, experts: {count: 8, "
    "top_k: 2, ffn: 16, shared_ffn: 24, leading_dense: 1}}";
constexpr const char* kGatedExperts =
    "{layers: 4, hidden: 32, heads: 4, ffn: 48, vocab: 250, tied: true, experts: {count: 4, "
    "top_k: 3, ffn: 20, shared_ffn: 24, shared_gate: true, normalize_top_k: false, every: 2}}";
constexpr const char* kUngatedExperts =
    "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 250, gated: false, activation: gelu, "
    "experts: {count: 4, top_k: 2, ffn: 20}}";
constexpr const char* kLearned = "  routing: learned\n";
constexpr const char* kGathered = "  dispatcher: allgather\n";
constexpr const char* kLearnedGathered = "  routing: learned\n  dispatcher: allgather\n";

constexpr const char* kDroppingExperts =
    "{layers: 3, hidden: 36, heads: 6, kv_heads: 2, ffn: 48, vocab: 250, dropout: 0.2, "
    "experts: {count: 4, top_k: 2, ffn: 14, leading_dense: 1}}";

constexpr const char* kOddExperts =
    "{layers: 3, hidden: 36, heads: 3, ffn: 50, vocab: 251, experts: {count: 3, top_k: 2, ffn: 7, "
    "shared_ffn: 9, shared_gate: true, dense_layers: [1]}}";

constexpr const char* kLatentExperts =
    "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, latent: {query_rank: 12, kv_rank: 10, "
    "nope_head_dim: 6, rope_head_dim: 6, value_head_dim: 8}, experts: {count: 8, top_k: 3, "
    "ffn: 16, shared_ffn: 16, leading_dense: 1}}";
constexpr const char* kExpertAdapters = "  routing: learned\n  adapters: {rank: 3, alpha: 5}\n";
constexpr const char* kWeighedBefore = "  routing: learned\n  kernels: {expert_weights: before}\n";
constexpr const char* kGatheredAdapters =
    "  routing: learned\n  dispatcher: allgather\n"
    "  adapters: {rank: 2, targets: [up, fc2, projection]}\n";

const RankCase kExpertCases[] = {
    {"Two", 2, kExperts, "parallel: {data: 2, expert: 2}\nmicro_batch: 2\n"},
    {"TwoLearned", 2, kGatedExperts, "parallel: {data: 2, expert: 2}\nmicro_batch: 2\n", kLearned},
    {"FourOverlapped", 4, kExperts,
     "parallel: {data: 4, expert: 4}\nmicro_batch: 1\nrecompute: full\noverlap: {expert: true}\n",
     kLearned},
    {"Tensor", 2, kExperts, "parallel: {data: 2, expert_tensor: 2}\nmicro_batch: 2\n"},
    {"TensorLearned", 4, kGatedExperts,
     "parallel: {data: 4, expert: 2, expert_tensor: 2}\nmicro_batch: 1\nrecompute: selective\n",
     kLearned},
    {"BesideTensor", 2, kExperts,
     "parallel: {tensor: 2, expert: 2}\nsequence_parallel: true\nmicro_batch: 2\n"},
    {"OnTensorRanks", 4, kGatedExperts,
     "parallel: {tensor: 2, data: 2, expert_tensor: 2, expert: 2}\nsequence_parallel: true\n"
     "micro_batch: 2\nrecompute: full\nrank_order: cp-ep-dp-tp-pp\n",
     kLearned},
    {"SameRowsOnTensorRanks", 4, kGatedExperts,
     "parallel: {tensor: 2, data: 2}\nmicro_batch: 2\nsharding: NNG\n", kLearned},
    {"StatesOfExpertsAloneAreSharded", 2, kGatedExperts,
     "parallel: {tensor: 2}\nmicro_batch: 4\nsharding: GGG\n"
     "buckets: {gradients: 999, parameters: 999}\n"},
    {"Gathered", 2, kExperts, "parallel: {data: 2, expert: 2}\nmicro_batch: 2\n", kGathered},
    {"GatheredTensor", 4, kGatedExperts,
     "parallel: {data: 4, expert: 2, expert_tensor: 2}\nmicro_batch: 1\nrecompute: full\n",
     kLearnedGathered},
    {"Context", 4, kExperts,
     "parallel: {context: 2, data: 2, expert: 4}\nmicro_batch: 2\nrecompute: {every: 2}\n"},
    {"BesideShared", 2, kGatedExperts,
     "parallel: {data: 2, expert: 2}\nmicro_batch: 2\noverlap: {shared_experts: true}\n", kLearned},
    {"BesideSharedThatRunAgain", 4, kGatedExperts,
     "parallel: {tensor: 2, data: 2, expert: 4}\nsequence_parallel: true\nmicro_batch: 1\n"
     "recompute: {modules: [shared_experts]}\noverlap: {shared_experts: true, tensor: true}\n",
     kGathered},
    {"BesideSharedInAZeroBubble", 4, kGatedExperts,
     "parallel: {pipeline: 2, data: 2, expert: 2}\nmicro_batch: 1\nschedule: zb-h1\n"
     "overlap: {shared_experts: true}\n",
     kLearned},
    {"Pipeline", 4, kExperts,
     "parallel: {pipeline: 2, data: 2, expert: 2}\nmicro_batch: 1\nsharding: NNG\n", kLearned},
    {"RecomputesExperts", 4, kGatedExperts,
     "parallel: {data: 4, expert: 2}\nmicro_batch: 1\nrecompute: {modules: [moe, norm]}\n",
     kLearned},
    {"RecomputesInsideExperts", 2, kGatedExperts,
     "parallel: {data: 2, expert: 2}\nmicro_batch: 2\n"
     "recompute: {modules: [moe_act, core_attn]}\n",
     kLearnedGathered},
    {"UnevenlyDealt", 4, kExperts,
     "parallel: {context: 4, expert: 4}\ncontext_kind: all-gather\nmicro_batch: 1\n"},
    {"EightWithAllKinds", 8, kExperts,
     "parallel: {tensor: 2, context: 2, data: 2, expert: 4, expert_tensor: 2}\n"
     "sequence_parallel: true\nmicro_batch: 1\n"},
    {"Dropout", 4, kDroppingExperts,
     "parallel: {data: 4, expert: 2}\nmicro_batch: 1\nschedule: {kind: paired, strands: 2}\n",
     kLearned},
    {"Adapters", 4, kGatedExperts,
     "parallel: {data: 4, expert: 2}\nmicro_batch: 1\nrecompute: selective\n", kExpertAdapters},
    {"AdaptersCut", 4, kGatedExperts,
     "parallel: {data: 4, expert: 2, expert_tensor: 2}\nmicro_batch: 1\nsharding: NGG\n",
     kExpertAdapters},
    {"AdaptersOnTensorRanks", 4, kExperts,
     "parallel: {tensor: 2, data: 2, expert_tensor: 2, expert: 2}\nsequence_parallel: true\n"
     "micro_batch: 2\nrecompute: {modules: [moe]}\n",
     "  adapters: {rank: 2, joined: true}\n"},
    {"AdaptersOfSameRows", 4, kGatedExperts,
     "parallel: {tensor: 2, data: 2}\nmicro_batch: 2\nsharding: GGG\n", kGatheredAdapters},
    {"AdaptersOfLatents", 4, kLatentExperts,
     "parallel: {tensor: 2, data: 2, expert: 4}\nsequence_parallel: true\nmicro_batch: 1\n"
     "recompute: {modules: [mla_up_proj]}\n",
     kExpertAdapters},
    {"AdaptersOfLatentsOnSameRows", 2, kLatentExperts, "parallel: {tensor: 2}\nmicro_batch: 2\n",
     kExpertAdapters},
    {"WeighedBefore", 2, kGatedExperts, "parallel: {data: 2, expert: 2}\nmicro_batch: 2\n",
     kWeighedBefore},
    {"WeighedBeforeOnTensorRanks", 4, kExperts,
     "parallel: {tensor: 2, data: 2, expert_tensor: 2, expert: 2}\nsequence_parallel: true\n"
     "micro_batch: 2\nrecompute: {modules: [moe_act]}\n",
     kWeighedBefore},
    {"WeighedBeforeGathered", 4, kGatedExperts,
     "parallel: {data: 4, expert: 4}\nmicro_batch: 1\nrecompute: full\n",
     "  routing: learned\n  dispatcher: allgather\n  kernels: {expert_weights: before}\n"},
    {"WeighedBeforeOnTheirRank", 2, kLatentExperts, "parallel: {tensor: 2}\nmicro_batch: 2\n",
     kWeighedBefore},
    {"WeighedBeforeBySingleKernels", 2, kUngatedExperts,
     "parallel: {data: 2, expert: 2}\nmicro_batch: 2\n", kWeighedBefore},
    {"WeighedBeforeBySingleKernelsThatRunAgain", 2, kUngatedExperts,
     "parallel: {data: 2, expert: 2}\nmicro_batch: 2\nrecompute: {modules: [moe_act]}\n",
     kWeighedBefore},
    {"EightInAPipeline", 8, kGatedExperts,
     "parallel: {pipeline: 2, data: 4, expert: 2}\nmicro_batch: 1\nrecompute: full\n"
     "sharding: {states: IIG, group: 2, expert_group: 2}\n",
     kLearned},
};

class ExpertRanks : public ::testing::TestWithParam<RankCase> {};

TEST_P(ExpertRanks, LearnWhatOneProcessLearns) { expect_what_one_process_learns(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Plans, ExpertRanks, ::testing::ValuesIn(kExpertCases),
                         [](const auto& one) { return std::string(one.param.name); });

/// States of experts and of the dense model in sizes that four ranks do not divide.
class ExpertStrategies : public ::testing::TestWithParam<std::string> {};

TEST_P(ExpertStrategies, LearnWhatOneProcessLearns) {
  const bool grouped = GetParam().find('I') != std::string::npos;
  const std::string choices =
      "parallel: {data: 4}\nmicro_batch: 1\nbuckets: {gradients: 3001, parameters: 2003}\n"
      "sharding: {states: " +
      GetParam() + (grouped ? ", group: 2, expert_group: 2" : "") + "}\n";
  static const Trained kAlone = train({.plan = plan_text_of({.model = kOddExperts})});
  expect_same(
      kAlone,
      train({.plan = plan_text_of({.model = kOddExperts, .choices = choices, .ranks = 4})}));
}

INSTANTIATE_TEST_SUITE_P(All, ExpertStrategies, ::testing::ValuesIn(sharding_strategies()));

}  // namespace
}  // namespace stepwright::testing
