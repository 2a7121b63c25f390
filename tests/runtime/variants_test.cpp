// Models other than Llama and GPT on several ranks learn what one process learns.
#include <gtest/gtest.h>

#include "tests/runtime/ranks.h"

namespace stepwright::testing {
namespace {

/// Layers and norms of many kinds, with and without experts.
constexpr const char* kCapped =
    "{layers: [{count: 1, window: 5}, {count: 1}, {count: 1, window: 5, chunked: true}, "
    "{count: 1, rotated: false, ffn: 64}], hidden: 32, heads: 4, kv_heads: 4, ffn: 48, vocab: 250, "
    "tied: true, norm_placement: both, norm_unit_offset: true, qk_norm: whole, "
    "embedding_scale: 5.5, residual_scale: 0.4, attention_scale: 0.3, attention_cap: 0.02, "
    "logit_cap: 0.05, logit_scale: 0.5}";
constexpr const char* kGates =
    "{layers: [{count: 1}, {count: 1, mixer: none}, {count: 1, feed_forward: none}, {count: 1}], "
    "hidden: 32, heads: 4, kv_heads: 4, ffn: 48, vocab: 250, norm: layernorm, norm_bias: true, "
    "norm_placement: after, sinks: true, attention_gate: true, qk_norm: each_head, "
    "qk_norm_bias: true, residual_scale: 0.4}";
constexpr const char* kBiasedExperts =
    "{layers: 4, hidden: 32, heads: 4, vocab: 250, norm_weight: false, qk_norm: plain, "
    "sinks: true, experts: {count: 4, top_k: 2, ffn: 24, bias: true, router_bias: true, "
    "scoring: sigmoid, scale: 1.5}}";

constexpr const char* kLatent =
    "{layers: 4, hidden: 32, heads: 4, ffn: 48, vocab: 250, latent: {query_rank: 12, kv_rank: 10, "
    "nope_head_dim: 8, rope_head_dim: 4, value_head_dim: 6}}";
constexpr const char* kSparse =
    "{layers: 4, hidden: 32, heads: 4, ffn: 48, vocab: 250, latent: {query_rank: 12, kv_rank: 10, "
    "nope_head_dim: 8, rope_head_dim: 4, value_head_dim: 6, index_heads: 16, index_head_dim: 8, "
    "index_top_k: 5}}";
constexpr const char* kDirect =
    "{layers: 4, hidden: 32, heads: 4, vocab: 250, latent: {query_rank: 0, kv_rank: 10, "
    "nope_head_dim: 6, rope_head_dim: 6, value_head_dim: 8}, experts: {count: 8, top_k: 2, "
    "ffn: 24, shared_ffn: 16, groups: 4, top_groups: 2}}";
constexpr const char* kAlibi =
    "{layers: 4, hidden: 48, heads: 12, kv_heads: 4, ffn: 48, vocab: 250, position: alibi}";
constexpr const char* kNarrowExperts =
    "{layers: 4, hidden: 32, heads: 4, vocab: 250, experts: {count: 8, top_k: 2, ffn: 24, "
    "latent: 20, shared_ffn: 16}}";
constexpr const char* kCorrected =
    "{layers: 4, hidden: 32, heads: 4, vocab: 250, experts: {count: 8, top_k: 2, ffn: 24, "
    "shared_ffn: 16, scoring: sigmoid, correction_bias: true}}";
constexpr const char* kAhead =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250, multi_token_layers: 1, "
    "count_multi_token: true}";
constexpr const char* kTwoAhead =
    "{layers: 4, hidden: 32, heads: 4, ffn: 48, vocab: 250, tied: true, multi_token_layers: 2, "
    "count_multi_token: true}";
constexpr const char* kMeansOfHeads =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 4, ffn: 48, vocab: 250, norm: layernorm, "
    "qk_norm: whole, qk_norm_bias: true}";

const RankCase kVariants[] = {
    {"LatentTensor", 2, kLatent, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"LatentSequence", 4, kLatent,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: GGG\n"
     "recompute: selective\n"},
    {"LatentRegathered", 2, kLatent,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: regather\nmicro_batch: 2\n"
     "recompute: {modules: [mla_up_proj, norm]}\n"},
    {"SparseSequence", 4, kSparse,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: GGG\n"
     "recompute: selective\n"},
    {"SparsePipeline", 4, kSparse,
     "parallel: {pipeline: 2, tensor: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"LatentRing", 2, kLatent, "parallel: {context: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"LatentAllGather", 4, kLatent,
     "parallel: {context: 2, tensor: 2}\nsequence_parallel: true\ncontext_kind: all-gather\n"
     "micro_batch: 2\n"},
    {"LatentUlysses", 2, kLatent,
     "parallel: {context: 2}\ncontext_kind: ulysses\nmicro_batch: 2\n"},
    {"LatentPipeline", 4, kLatent,
     "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: zb-h1\nrecompute: selective\n"},
    {"LatentTwoStrands", 4, kLatent,
     "parallel: {tensor: 2, pipeline: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: {kind: dualpipev, strands: 2}\n"},
    {"LatentExperts", 4, kDirect,
     "parallel: {tensor: 2, data: 2, expert: 2}\nsequence_parallel: true\nmicro_batch: 2\n",
     "  routing: learned\n"},
    {"AlibiTensor", 2, kAlibi, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"AlibiRing", 4, kAlibi,
     "parallel: {context: 2, tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\n"},
    {"AlibiAllGather", 2, kAlibi,
     "parallel: {context: 2}\ncontext_kind: all-gather\nmicro_batch: 2\n"},
    {"AlibiUlysses", 4, kAlibi,
     "parallel: {context: 2, tensor: 2}\ncontext_kind: ulysses\nmicro_batch: 2\n"},
    {"AlibiPipeline", 2, kAlibi, "parallel: {pipeline: 2}\nmicro_batch: 1\nrecompute: full\n"},
    {"NarrowExperts", 4, kNarrowExperts,
     "parallel: {tensor: 2, data: 2, expert: 2}\nsequence_parallel: true\nmicro_batch: 2\n"
     "sharding: GGG\nrecompute: selective\n",
     "  routing: learned\n"},
    {"NarrowExpertsCutInTensor", 4, kNarrowExperts,
     "parallel: {tensor: 2, data: 2, expert: 2, expert_tensor: 2}\nsequence_parallel: true\n"
     "micro_batch: 2\n",
     "  routing: learned\n"},
    {"NarrowExpertsGathered", 4, kNarrowExperts,
     "parallel: {tensor: 2, data: 2, expert: 4}\nsequence_parallel: true\nmicro_batch: 2\n",
     "  routing: learned\n  dispatcher: allgather\n"},
    {"NarrowExpertsPipeline", 4, kNarrowExperts,
     "parallel: {tensor: 2, pipeline: 2}\nmicro_batch: 1\nschedule: zb-h1\n",
     "  routing: learned\n"},
    {"CorrectedRouters", 4, kCorrected,
     "parallel: {tensor: 2, data: 2, expert: 2}\nsequence_parallel: true\nmicro_batch: 2\n"
     "recompute: full\n",
     "  routing: learned\n"},
    {"CorrectedRoutersInContext", 4, kCorrected,
     "parallel: {context: 2, tensor: 2}\nmicro_batch: 2\n", "  routing: learned\n"},
    {"MeansOfHeads", 2, kMeansOfHeads, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"MeansOfHeadsSequence", 4, kMeansOfHeads,
     "parallel: {tensor: 4}\nsequence_parallel: true\nmicro_batch: 2\nrecompute: selective\n"},
    {"ExpertsCutInTensor", 4, kBiasedExperts,
     "parallel: {tensor: 2, data: 2, expert: 2, expert_tensor: 2}\nsequence_parallel: true\n"
     "micro_batch: 2\n"},
    {"CappedTensor", 2, kCapped, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"CappedSequence", 4, kCapped,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: GGG\n"
     "recompute: selective\n"},
    {"CappedRing", 2, kCapped, "parallel: {context: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"CappedAllGather", 2, kCapped,
     "parallel: {context: 2}\ncontext_kind: all-gather\nmicro_batch: 2\n"},
    {"CappedPipeline", 4, kCapped, "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: zb-h1\n",
     "  kernels: {fused_cross_entropy: true}\n"},
    {"GatesTensor", 2, kGates, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"GatesSequence", 4, kGates,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: GGG\n"
     "recompute: selective\n"},
    {"GatesRing", 2, kGates, "parallel: {context: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"GatesAllGather", 2, kGates,
     "parallel: {context: 2}\ncontext_kind: all-gather\nmicro_batch: 2\n"},
    {"GatesUlysses", 2, kGates, "parallel: {context: 2}\ncontext_kind: ulysses\nmicro_batch: 2\n"},
    {"GatesPipeline", 2, kGates,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-h1\nrecompute: selective\n"},
    {"ExpertsApart", 2, kBiasedExperts, "parallel: {data: 2, expert: 2}\nmicro_batch: 2\n"},
    {"ExpertsInTensor", 4, kBiasedExperts,
     "parallel: {tensor: 2, data: 2, expert: 2}\nsequence_parallel: true\nmicro_batch: 2\n"},
    {"ExpertsPlainTensor", 2, kBiasedExperts, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
};

constexpr const char* kDelta =
    "{layers: [{count: 3, mixer: delta_net}, {count: 1}], hidden: 32, heads: 4, kv_heads: 4, "
    "ffn: 48, vocab: 250, state_mixer: {heads: 8, head_dim: 6, groups: 4, state: 8, kernel: 4, "
    "normed: true}}";
constexpr const char* kMamba2 =
    "{layers: [{count: 3, mixer: mamba2}, {count: 1, mixer: mamba2, feed_forward: none}], "
    "hidden: 32, heads: 4, ffn: 48, vocab: 250, state_mixer: {heads: 8, head_dim: 6, groups: 4, "
    "state: 8, kernel: 3, normed: true, convolution_bias: true, bias: true}}";
constexpr const char* kMamba =
    "{layers: [{count: 4, mixer: mamba}], hidden: 32, heads: 4, ffn: 48, vocab: 250, "
    "state_mixer: {heads: 24, state: 5, step_rank: 3, convolution_bias: true}}";
constexpr const char* kJamba =
    "{layers: [{count: 3, mixer: mamba}, {count: 1}], hidden: 32, heads: 4, ffn: 48, vocab: 250, "
    "position: none, state_mixer: {heads: 24, state: 5, step_rank: 3, convolution_bias: true, "
    "selection_normed: true}}";
constexpr const char* kBeside =
    "{layers: [{count: 2, beside: mamba2, norms: both}, {count: 2, beside: mamba2}], hidden: 32, "
    "heads: 4, ffn: 48, vocab: 250, state_mixer: {heads: 8, head_dim: 6, groups: 4, state: 8, "
    "kernel: 3, normed: true, convolution_bias: true}}";
constexpr const char* kShort =
    "{layers: [{count: 3, mixer: short_convolution}, {count: 1}], hidden: 32, heads: 4, ffn: 48, "
    "vocab: 250, state_mixer: {heads: 32, kernel: 3, bias: true, convolution_bias: true}}";

/// Mixers with a recurrent state, whose heads are divided by tensor ranks and, around the mixer, by
/// context ranks.
const RankCase kStates[] = {
    {"DeltaTensor", 2, kDelta, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"DeltaSequence", 4, kDelta,
     "parallel: {tensor: 2, context: 2}\nsequence_parallel: true\nmicro_batch: 2\n"},
    {"DeltaContext", 4, kDelta,
     "parallel: {context: 2, data: 2}\nmicro_batch: 2\nrecompute: full\nsharding: GGG\n"},
    {"DeltaPipeline", 4, kDelta, "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: zb-h1\n"},
    {"Mamba2Tensor", 2, kMamba2, "parallel: {tensor: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"Mamba2Sequence", 4, kMamba2,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: IGG\n"},
    {"Mamba2Context", 4, kMamba2, "parallel: {context: 4}\nmicro_batch: 2\n"},
    {"Mamba2TwoStrands", 4, kMamba2,
     "parallel: {tensor: 2, pipeline: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: {kind: dualpipev, strands: 2}\n"},
    {"MambaTensor", 4, kMamba,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: GGG\n"},
    {"MambaContext", 4, kMamba,
     "parallel: {context: 2, tensor: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"MambaPipeline", 2, kMamba, "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-v\n"},
    {"JambaTensor", 2, kJamba, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"JambaSequence", 4, kJamba,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: GGG\n"},
    {"JambaContext", 4, kJamba,
     "parallel: {context: 2, tensor: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"BesideTensor", 4, kBeside,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: GGG\n"
     "recompute: selective\n"},
    {"BesideContext", 4, kBeside,
     "parallel: {context: 2, tensor: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"BesidePipeline", 2, kBeside, "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-h1\n"},
    {"ShortTensor", 2, kShort,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\nrecompute: full\n"},
    {"ShortContext", 4, kShort, "parallel: {context: 2, tensor: 2}\nmicro_batch: 2\n"},
    {"ShortPipeline", 2, kShort, "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-h1\n"},
};

/// Layers that predict tokens further ahead, on the last position, and their embedding tables.
const RankCase kMultiToken[] = {
    {"Data", 2, kAhead, "parallel: {data: 2}\nmicro_batch: 2\nsharding: NNG\n"},
    {"Sharded", 4, kTwoAhead, "parallel: {data: 4}\nmicro_batch: 1\nsharding: GGG\n"},
    {"Tensor", 2, kAhead, "parallel: {tensor: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"Sequence", 4, kAhead,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: IGG\n"
     "tensor_input: regather\n"},
    {"Ring", 2, kAhead, "parallel: {context: 2}\nmicro_batch: 2\n"},
    {"Ulysses", 2, kTwoAhead,
     "parallel: {context: 2}\ncontext_kind: ulysses\nmicro_batch: 2\nrecompute: selective\n"},
    {"Pipeline", 2, kAhead, "parallel: {pipeline: 2}\nmicro_batch: 1\n"},
    {"PipelineSharded", 4, kAhead,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nsharding: GGG\nrecompute: full\n"},
    {"TiedPipeline", 4, kTwoAhead,
     "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: zb-h1\nrecompute: {every: 2}\n"},
    {"OnTheirOwn", 4, kAhead,
     "parallel: {pipeline: 2, tensor: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: {kind: interleaved, chunks: 2}\nlayers: [1, 2, 1, 0]\n"},
    {"Folded", 2, kTwoAhead, "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-v\n"},
    {"TwoStrands", 4, kAhead,
     "parallel: {tensor: 2, pipeline: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: {kind: dualpipev, strands: 2}\n"},
};

class Variants : public ::testing::TestWithParam<RankCase> {};

TEST_P(Variants, LearnWhatOneProcessLearns) { expect_what_one_process_learns(GetParam()); }

constexpr auto kVariantName = [](const auto& one) { return std::string(one.param.name); };
INSTANTIATE_TEST_SUITE_P(Blocks, Variants, ::testing::ValuesIn(kVariants), kVariantName);
INSTANTIATE_TEST_SUITE_P(RankModelStateBytes, Variants, ::testing::ValuesIn(kStates), kVariantName);
INSTANTIATE_TEST_SUITE_P(MultiToken, Variants, ::testing::ValuesIn(kMultiToken), kVariantName);

}  // namespace
}  // namespace stepwright::testing
