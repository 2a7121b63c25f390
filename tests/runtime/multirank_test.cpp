// Ranks as processes learn what one process learns, and send what the program predicts.
#include <gtest/gtest.h>

#include "tests/runtime/ranks.h"

namespace stepwright::testing {
namespace {

constexpr const char* kNeoX =
    "{layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 250, norm: layernorm, gated: false, "
    "rotary_fraction: 0.25, bias: true, parallel_residual: true, head_bias: true}";

const RankCase kData[] = {
    {"TwoRanks", 2, kLlama, "parallel: {data: 2}\nmicro_batch: 2\n"},
    {"FourRanks", 4, kTied, "parallel: {data: 4}\nmicro_batch: 1\n"},
    {"SmallBuckets", 2, kLlama,
     "parallel: {data: 2}\nmicro_batch: 2\nbuckets: {gradients: 1000, parameters: 700}\n"},
    {"NotOverlapped", 2, kLlama,
     "parallel: {data: 2}\nmicro_batch: 2\noverlap: {gradients: false, parameters: false}\n"},
};

const RankCase kTensor[] = {
    {"Plain", 2, kLlama, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"Sequence", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: keep\nmicro_batch: 2\n"},
    {"Regather", 2, kTied,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: regather\nmicro_batch: 2\n"},
    {"BiasesPlain", 2, kNeoX, "parallel: {tensor: 2}\nmicro_batch: 4\n",
     "  kernels: {fused_cross_entropy: true}\n"},
    {"BiasesSequence", 4, kNeoX,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\n"},
    {"LossChunks", 4, kTied,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\ntensor_input: regather\n"
     "micro_batch: 2\nsharding: GGG\n",
     "  kernels: {loss_chunks: 3, fused_cross_entropy: true}\n"},
    {"LossChunksOfBiases", 2, kNeoX, "parallel: {tensor: 2}\nmicro_batch: 4\n",
     "  kernels: {loss_chunks: 5, loss_keeps: rows}\n"},
    {"LossGradients", 4, kTied,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\nsharding: GGG\n",
     "  kernels: {loss_chunks: 0, loss_keeps: gradients, fused_cross_entropy: true}\n"},
    {"LossSums", 2, kNeoX, "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\n",
     "  kernels: {loss_keeps: sums}\n"},
    {"HeadNorms", 2, kQwen3, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"HeadNormsSequence", 2, kQwen3,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\nrecompute: full\n"},
    {"RecomputesModules", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: keep\nmicro_batch: 2\n"
     "recompute: {modules: [norm, mlp]}\n"},
    {"RecomputesModulesOfShards", 4, kTied,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\ntensor_input: regather\n"
     "micro_batch: 2\nsharding: GGG\nrecompute: {modules: [core_attn, mlp], every: 2}\n"},
    {"NoSideStream", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\nrecompute: selective\n"
     "overlap: {tensor_gradients: false}\n"},
};

constexpr const char* kPacks =
    ", lengths: {histogram: [[2, 3], [5, 4], [7, 2], [13, 1]]}, packing: greedy";

const RankCase kDocuments[] = {
    {"Data", 4, kLlama, "parallel: {data: 4}\nmicro_batch: 1\nsharding: GGG\n", "", kPacks},
    {"Sequence", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\nrecompute: full\n", "",
     kPacks},
    {"LearnedPositions", 2, kTied,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\n", "", kPacks},
    {"Pipeline", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: interleaved, chunks: 2}\n", "",
     kPacks},
    {"Ring", 2, kLlama, "parallel: {context: 2}\nmicro_batch: 2\n", "", kPacks},
    {"RingOfFour", 4, kQwen3, "parallel: {context: 4}\nmicro_batch: 4\n", "", kPacks},
    {"Gathered", 4, kLlama,
     "parallel: {context: 2, data: 2}\ncontext_kind: all-gather\nmicro_batch: 2\n", "", kPacks},
    {"Ulysses", 2, kTied, "parallel: {context: 2}\ncontext_kind: ulysses\nmicro_batch: 2\n", "",
     kPacks},
    {"Together", 8, kLlama,
     "parallel: {tensor: 2, context: 2, pipeline: 2}\nsequence_parallel: true\nmicro_batch: 1\n",
     "", kPacks},
};

const RankCase kPipeline[] = {
    {"OneForwardOneBackward", 2, kLlama, "parallel: {pipeline: 2}\nmicro_batch: 1\n"},
    {"DefersTheHead", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\noverlap: {defer_embedding_gradient: true}\n"},
    {"DefersTheHeadOfATiedTable", 4, kTied,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nsharding: NNG\n"
     "buckets: {gradients: 3001, parameters: 2003}\n"
     "overlap: {defer_embedding_gradient: true}\n"},
    {"DefersTheHeadOfInterleavedChunks", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: interleaved, chunks: 2}\n"
     "overlap: {defer_embedding_gradient: true}\n"},
    {"DefersTheHeadWithBlockingMessages", 8, kTied,
     "parallel: {pipeline: 2, tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "sharding: NNG\noverlap: {gradients: false, parameters: false, defer_embedding_gradient: "
     "true}\n"},
    {"DefersTheHeadOfShardedGradients", 8, kLlama,
     "parallel: {pipeline: 2, tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "sharding: GGG\noverlap: {defer_embedding_gradient: true}\n"},
    {"DefersTheHeadOfCutBackwards", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-h1\n"
     "overlap: {defer_embedding_gradient: true}\n"},
    {"Gpipe", 4, kTied, "parallel: {pipeline: 4}\nmicro_batch: 2\nschedule: gpipe\n"},
    {"Interleaved", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: interleaved, chunks: 2}\n"},
    {"InterleavedInGroups", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\n"
     "schedule: {kind: interleaved, chunks: 2, group: 3}\n"},
    {"ZeroBubble", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-h1\nrecompute: selective\n"},
    {"ZeroBubbleRecomputesModules", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-h1\n"
     "recompute: {modules: [norm, mlp]}\n"},
    {"ZeroBubbleRegathers", 8, kTied,
     "parallel: {pipeline: 2, tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: zb-h1\nsharding: GGG\n"},
    {"RecomputesByStage", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nrecompute: {stages: {0: full}}\n"},
    {"RecomputesModulesByStage", 4, kTied,
     "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: zb-h1\n"
     "recompute: {modules: [norm], stages: {0: full, 2: {modules: [core_attn, mlp]}, 3: none}}\n"},
    {"ZeroBubbleRecomputes", 4, kTied,
     "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: zb-h1\nrecompute: full\n"},
    {"ZeroBubbleH2", 4, kTied, "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: zb-h2\n"},
    {"ZeroBubbleV", 2, kTied,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-v\nrecompute: selective\n"},
    {"VHalf", 4, kLlama, "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nschedule: v-half\n"},
    {"VMin", 4, kTied,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nschedule: v-min\nsharding: GGG\n"},
    {"Folded", 2, kTied, "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: folded\n"},
    {"FoldedAlone", 2, kTied,
     "parallel: {data: 2}\nmicro_batch: 1\nschedule: folded\nsharding: NGG\n"},
    {"DualPipeV", 2, kLlama, "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: dualpipev\n"},
    {"DualPipeVReduces", 4, kTied,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nschedule: dualpipev\nsharding: GGG\n"
     "recompute: full\n"},
    {"SpreadVocabulary", 4, kLlama,
     "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: 1f1b-vocab\n"},
    {"SpreadVocabularyOfTensorRanks", 8, kTied,
     "parallel: {pipeline: 2, tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: 1f1b-vocab\nsharding: NNG\n",
     "  kernels: {fused_cross_entropy: true}\n"},
    {"SpreadVocabularyOfShards", 4, kNeoX,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nschedule: 1f1b-vocab\nsharding: GGG\n"
     "recompute: full\n"},
    {"SpreadVocabularyInChunks", 4, kTied,
     "parallel: {pipeline: 2, tensor: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: 1f1b-vocab\n",
     "  kernels: {loss_chunks: 3, fused_cross_entropy: true}\n"},
    {"SpreadVocabularyInRows", 2, kNeoX,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: 1f1b-vocab\n",
     "  kernels: {loss_chunks: 5, loss_keeps: rows}\n"},
    {"TwoBarriers", 4, kLlama, "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: vocab-1\n"},
    {"TwoBarriersOfTensorRanks", 8, kTied,
     "parallel: {pipeline: 2, tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: vocab-1\nsharding: NNG\nrecompute: full\n",
     "  kernels: {fused_cross_entropy: true}\n"},
    {"OneBarrier", 4, kNeoX, "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: vocab-2\n"},
    {"OneBarrierOfTensorRanks", 8, kTied,
     "parallel: {pipeline: 2, tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: vocab-2\nsharding: NNG\n",
     "  kernels: {fused_cross_entropy: true}\n"},
    {"Found", 4, kTied,
     "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: {kind: auto, hop_ns: 200, "
     "room_bytes: [4, 4, 4, 4], kept_bytes: [[1, 1], [1, 1], [1, 1], [1, 1]], "
     "durations_ns: [[2000, 1000, 1000, 2000], [1000, 1000, 1000, 1800], "
     "[1000, 1000, 1000, 1700], [2000, 2000, 1000, 3000]]}\n"},
    {"FoundWhole", 4, kTied,
     "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: {kind: auto, hop_ns: 0, "
     "room_bytes: [4, 4, 4, 4], kept_bytes: [[1, 9], [1, 9], [1, 9], [1, 9]], "
     "durations_ns: [[2, 2, 1, 3], [2, 2, 1, 3], [2, 2, 1, 3], [2, 2, 1, 3]]}\n"},
    {"FoundDownAndUp", 4, kTied,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nschedule: {kind: auto, chunks: 2, hop_ns: "
     "0, room_bytes: [4, 4], kept_bytes: [[1, 1], [1, 1], [1, 1], [1, 1]], "
     "durations_ns: [[2, 1, 1, 2], [1, 1, 1, 2], [1, 1, 1, 2], [3, 3, 1, 3]]}\n"
     "recompute: selective\nsharding: GGG\n"},
    {"EmbeddingAndHeadAlone", 4, kTied,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nschedule: {kind: interleaved, chunks: 3}\n"
     "layers: [0, 1, 1, 1, 1, 0]\nsharding: NGG\n"},
    {"ChunksWithoutLayers", 2, kTied,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: interleaved, chunks: 3}\n"
     "layers: [1, 1, 0, 0, 1, 1]\n"},
    {"ChunksWithoutLayersPaired", 4, kLlama,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nschedule: {kind: paired, chunks: 3}\n"
     "layers: [2, 1, 0, 0, 1, 0]\nsharding: GGG\n"},
    {"EmbeddingAndHeadAloneFolded", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: zb-v\nlayers: [0, 2, 2, 0]\n"},
    {"EmbeddingAndHeadAloneInTwoStrands", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: dualpipev, strands: 2}\n"
     "layers: [0, 2, 2, 0]\n"},
    {"FoundCyclic", 2, kTied,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: auto, chunks: 2, placement: "
     "cyclic, hop_ns: 0, room_bytes: [5, 5], kept_bytes: [[1, 1], [1, 1], [1, 1], [1, 1]], "
     "durations_ns: [[4, 4, 2, 5], [4, 4, 2, 5], [4, 4, 2, 5], [4, 4, 2, 5]]}\n"},
    {"Paired", 2, kTied,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: paired, chunks: 2}\n"},
    {"TwoStrands", 4, kTied,
     "parallel: {pipeline: 2, tensor: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: {kind: folded, strands: 2}\n"},
    {"TwoStrandsAlone", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: {kind: paired, strands: 2}\nrecompute: selective\n"},
    {"TwoStrandsInContext", 4, kLlama,
     "parallel: {context: 2, pipeline: 2}\nmicro_batch: 1\n"
     "schedule: {kind: paired, chunks: 2, strands: 2}\nrecompute: full\n"},
    {"TwoStrandsSharded", 4, kTied,
     "parallel: {data: 2, pipeline: 2}\nmicro_batch: 1\nschedule: {kind: dualpipev, strands: 2}\n"
     "sharding: GGG\n"},
    {"OnTheHost", 4, kTied,
     "parallel: {data: 2, pipeline: 2}\nmicro_batch: 1\nsharding: GGG\n"
     "offload: {optimizer: 1, parameters: true}\n"},
    {"OnTheHostInGroups", 4, kLlama,
     "parallel: {data: 4}\nmicro_batch: 1\nsharding: {states: III, group: 2}\n"
     "overlap: {gradients: false, parameters: false}\n"
     "offload: {optimizer: 1, parameters: true, activations: [qkv_linear]}\n"},
    {"TwoStrandsWaitForStates", 2, kLlama,
     "parallel: {data: 2}\nmicro_batch: 1\nschedule: {kind: paired, strands: 2}\n"
     "sharding: GGG\noverlap: {gradients: false, parameters: false}\n"},
    {"Braided", 4, kLlama,
     "parallel: {tensor: 2, pipeline: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: {kind: stp, strands: 2}\n"},
    {"BraidedSharded", 4, kLlama,
     "parallel: {context: 2, pipeline: 2}\nmicro_batch: 1\nschedule: {kind: stp, strands: 2}\n"
     "recompute: full\nsharding: GGG\n"},
    {"TiedWithTensor", 4, kTied,
     "parallel: {pipeline: 2, tensor: 2}\nsequence_parallel: true\nmicro_batch: 1\n"},
    {"NotOverlapped", 4, kLlama,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\noverlap: {pipeline: false}\n"
     "recompute: {every: 2}\n"},
};

const RankCase kContext[] = {
    {"Ring", 2, kLlama, "parallel: {context: 2}\nmicro_batch: 2\n"},
    {"RingOfFour", 4, kLlama,
     "parallel: {context: 4}\nmicro_batch: 2\nrecompute: full\noverlap: {context: false}\n"},
    {"AllGather", 2, kLlama,
     "parallel: {context: 2}\ncontext_kind: all-gather\nmicro_batch: 2\nrecompute: selective\n"},
    {"Ulysses", 2, kLlama, "parallel: {context: 2}\ncontext_kind: ulysses\nmicro_batch: 2\n"},
    {"UlyssesRecomputed", 2, kTied,
     "parallel: {context: 2}\ncontext_kind: ulysses\nmicro_batch: 2\nrecompute: selective\n"},
    {"RingRecomputesModules", 2, kLlama,
     "parallel: {context: 2}\nmicro_batch: 2\nrecompute: {modules: [core_attn, norm]}\n"},
    {"UlyssesRecomputesModules", 2, kTied,
     "parallel: {context: 2}\ncontext_kind: ulysses\nmicro_batch: 2\n"
     "recompute: {modules: [core_attn, mlp]}\n"},
    {"WithTensorAndShards", 4, kTied,
     "parallel: {context: 2, tensor: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "sharding: GGG\n"},
};

constexpr const char* kDroppingHeads =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250, dropout: 0.1}";
constexpr const char* kDroppingTogether =
    "{layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 250, norm: layernorm, gated: false, "
    "bias: true, parallel_residual: true, embedding_norm: true, dropout: 0.3}";
constexpr const char* kDroppingWindows =
    "{layers: 4, hidden: 32, heads: 4, ffn: 48, vocab: 250, window: [5, 0, 3, 0], dropout: 0.5}";

/// Dropout masks belong to elements of the global batch, whichever rank draws them and when.
const RankCase kDropout[] = {
    {"Data", 4, kDropping, "parallel: {data: 4}\nmicro_batch: 1\nsharding: GGG\n"},
    {"Tensor", 2, kDropping, "parallel: {tensor: 2}\nmicro_batch: 4\n"},
    {"Sequence", 2, kDroppingHeads,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: regather\nmicro_batch: 2\n"},
    {"Together", 2, kDroppingTogether,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\n"},
    {"Ring", 4, kDroppingHeads, "parallel: {context: 4}\nmicro_batch: 2\n"},
    {"RingInWindows", 2, kDroppingWindows,
     "parallel: {context: 2}\nmicro_batch: 2\nrecompute: full\n"},
    {"AllGather", 2, kDroppingHeads,
     "parallel: {context: 2}\ncontext_kind: all-gather\nmicro_batch: 2\nrecompute: selective\n"},
    {"Ulysses", 4, kDroppingHeads,
     "parallel: {context: 2, data: 2}\ncontext_kind: ulysses\nmicro_batch: 2\n"},
    {"Pipeline", 2, kDropping, "parallel: {pipeline: 2}\nmicro_batch: 1\nrecompute: full\n"},
    {"ZeroBubble", 4, kDropping, "parallel: {pipeline: 4}\nmicro_batch: 1\nschedule: zb-h1\n"},
    {"VMin", 2, kDroppingHeads,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: v-min\nrecompute: {every: 2}\n"},
    {"DualPipeV", 2, kDropping, "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: dualpipev\n"},
    {"TwoStrands", 4, kDropping,
     "parallel: {pipeline: 2, tensor: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "schedule: {kind: folded, strands: 2}\n"},
    {"TwoStrandsInContext", 4, kDroppingHeads,
     "parallel: {context: 2, pipeline: 2}\nmicro_batch: 1\n"
     "schedule: {kind: paired, chunks: 2, strands: 2}\nrecompute: selective\n"},
    {"TensorPipelineData", 8, kDropping,
     "parallel: {tensor: 2, pipeline: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "sharding: GGG\nschedule: {kind: dualpipev, strands: 2}\n"},
};

const RankCase kEight[] = {
    {"TensorPipelineData", 8, kTied,
     "parallel: {tensor: 2, pipeline: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "sharding: GGG\n"},
    {"ContextTensorData", 8, kLlama,
     "parallel: {tensor: 2, context: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\n"
     "sharding: {states: IIG, group: 2}\n"},
};

/// Sizes that four ranks do not divide, and buckets that are cut at any element.
constexpr const char* kOdd =
    "{layers: 3, hidden: 36, heads: 3, ffn: 50, vocab: 251, norm: layernorm, gated: false, "
    "position: learned, positions: 17, bias: true, tied: true}";

constexpr const char* kAdapted = "  adapters: {rank: 3, alpha: 5}\n";
constexpr const char* kFrozenTable = "  frozen: [embedding]\n";

const RankCase kFrozen[] = {
    {"AdaptersReduced", 2, kLlama, "parallel: {data: 2}\nmicro_batch: 2\n", kAdapted},
    {"AdaptersOnAGatheredBase", 4, kLlama, "parallel: {data: 4}\nmicro_batch: 1\nsharding: GGG\n",
     kAdapted},
    {"AdaptersBesideGroups", 4, kTied,
     "parallel: {data: 4}\nmicro_batch: 1\nsharding: {states: IIG, group: 2}\n", kAdapted},
    {"AdaptersCut", 2, kLlama, "parallel: {tensor: 2}\nmicro_batch: 2\n", kAdapted},
    {"AdaptersOfGatheredRows", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: keep\nmicro_batch: 2\n",
     kAdapted},
    {"AdaptersGatherRowsAgain", 4, kTied,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\ntensor_input: regather\n"
     "micro_batch: 2\nsharding: NGG\nrecompute: {modules: [norm, mlp]}\n",
     "  adapters: {rank: 2, targets: [q, v, projection, fc2]}\n"},
    {"AdaptersJoinedAndCut", 2, kQwen3,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\nrecompute: full\n",
     "  adapters: {rank: 2, joined: true, dropout: 0.2}\n"},
    {"AdaptersInAPipeline", 2, kLlama, "parallel: {pipeline: 2}\nmicro_batch: 1\n", kAdapted},
    {"AdaptersOfATiedModelInAPipeline", 4, kTied,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nsharding: GGG\n"
     "schedule: {kind: interleaved, chunks: 2}\n",
     kAdapted},
    {"AdaptersOfCutBackwards", 4, kLlama,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nschedule: zb-h1\nsharding: NGG\n",
     kAdapted},
    {"AdaptersOfPartsOfSequences", 2, kLlama,
     "parallel: {context: 2}\nmicro_batch: 2\ncontext_kind: ulysses\n", kAdapted},
    {"FrozenLayersOfShards", 4, kLlama,
     "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\nsharding: GGG\n",
     "  frozen: [embedding, layers 0-1]\n"},
    {"FrozenMiddleOfAPipeline", 4, kTied,
     "parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nsharding: GGG\n",
     "  frozen: [layers 1-2]\n"},
    {"FrozenTable", 2, kTied, "parallel: {data: 2}\nmicro_batch: 1\nsharding: NNG\n", kFrozenTable},
};

class Ranks : public ::testing::TestWithParam<RankCase> {};

TEST_P(Ranks, LearnWhatOneProcessLearns) { expect_what_one_process_learns(GetParam()); }

/// Parameters: strategy, whether its messages are overlapped, and the group.
class Strategies : public ::testing::TestWithParam<std::tuple<std::string, bool, int>> {};

TEST_P(Strategies, LearnWhatOneProcessLearns) {
  const auto& [states, overlapped, group] = GetParam();
  const bool grouped = states.find('I') != std::string::npos;
  const std::string choices =
      "parallel: {data: 4}\nmicro_batch: 1\nbuckets: {gradients: 3001, parameters: 2003}\n"
      "sharding: {states: " +
      states + (grouped ? ", group: " + std::to_string(group) : "") +
      "}\noverlap: {gradients: " + (overlapped ? "true" : "false") +
      ", parameters: " + (overlapped ? "true" : "false") + "}\n";
  static const Trained kAlone = train({.plan = plan_text_of({.model = kOdd})});
  const Trained together =
      train({.plan = plan_text_of({.model = kOdd, .choices = choices, .ranks = 4})});
  expect_same(kAlone, together);
  EXPECT_EQ(together.scheduled, 0);
}

INSTANTIATE_TEST_SUITE_P(All, Strategies,
                         ::testing::Combine(::testing::ValuesIn(sharding_strategies()),
                                            ::testing::Bool(), ::testing::Values(2)));

/// Four ranks as two nodes, whose data-parallel messages run as generated schedules.
class Schedules : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Schedules, LearnWhatOneProcessLearns) {
  const auto& [states, algorithm] = GetParam();
  const bool grouped = states.find('I') != std::string::npos;
  const std::string choices =
      "parallel: {data: 4}\nmicro_batch: 1\nbuckets: {gradients: 3001, parameters: 2003}\n"
      "sharding: {states: " +
      states + (grouped ? ", group: node" : "") + "}\ncollectives: {data: " + algorithm + "}\n";
  static const Trained kAlone = train({.plan = plan_text_of({.model = kOdd})});
  const Trained together =
      train({.plan = plan_text_of({.model = kOdd, .choices = choices, .ranks = 4, .node = 2})});
  expect_same(kAlone, together);
  if (!grouped) {  // else groups may lie on one level each
    EXPECT_GT(together.scheduled, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(HoRing, Schedules,
                         ::testing::Combine(::testing::ValuesIn(sharding_strategies()),
                                            ::testing::Values("ho-ring")));
INSTANTIATE_TEST_SUITE_P(TwoLevel, Schedules,
                         ::testing::Combine(::testing::Values("NNN", "NGG", "GGG"),
                                            ::testing::Values("two-level")));

INSTANTIATE_TEST_SUITE_P(Reductions, Schedules,
                         ::testing::Combine(::testing::Values("NNN"),
                                            ::testing::Values("tree", "direct")));
INSTANTIATE_TEST_SUITE_P(Halves, Schedules,
                         ::testing::Combine(::testing::Values("NNG", "GGG"),
                                            ::testing::Values("direct", "halving-doubling")));

/// A plan names an algorithm for each scheme; four ranks form two nodes.
TEST(Algorithms, OfEachSchemeLearnWhatOneProcessLearns) {
  const Trained alone = train({.plan = plan_text_of({.model = kTied})});
  for (const char* choices :
       {"parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\nsharding: GGG\n"
        "collectives: {tensor: direct, data: halving-doubling}\n",
        "parallel: {context: 2, data: 2}\ncontext_kind: ulysses\nmicro_batch: 1\n"
        "collectives: {context: direct, data: ho-ring}\n"}) {
    const Trained together =
        train({.plan = plan_text_of({.model = kTied, .choices = choices, .ranks = 4, .node = 2})});
    expect_same(alone, together);
    EXPECT_GT(together.scheduled, 0);
  }
}

constexpr auto kName = [](const auto& one) { return std::string(one.param.name); };
INSTANTIATE_TEST_SUITE_P(Data, Ranks, ::testing::ValuesIn(kData), kName);
INSTANTIATE_TEST_SUITE_P(Tensor, Ranks, ::testing::ValuesIn(kTensor), kName);
INSTANTIATE_TEST_SUITE_P(Context, Ranks, ::testing::ValuesIn(kContext), kName);
INSTANTIATE_TEST_SUITE_P(Documents, Ranks, ::testing::ValuesIn(kDocuments), kName);
INSTANTIATE_TEST_SUITE_P(Pipeline, Ranks, ::testing::ValuesIn(kPipeline), kName);
INSTANTIATE_TEST_SUITE_P(Dropout, Ranks, ::testing::ValuesIn(kDropout), kName);
INSTANTIATE_TEST_SUITE_P(Frozen, Ranks, ::testing::ValuesIn(kFrozen), kName);
INSTANTIATE_TEST_SUITE_P(Eight, Ranks, ::testing::ValuesIn(kEight), kName);

}  // namespace
}  // namespace stepwright::testing
