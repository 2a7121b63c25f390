// The executor in one process, compared with autograd.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "stepwright/core/document.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/kernels/top_k.h"
#include "tests/folder.h"
#include "tests/runtime/reference.h"

namespace stepwright::testing {
namespace {

struct Case {
  const char* name;
  const char* model;
  const char* job = "";
  const char* choices = "micro_batch: 2\n";
  const char* batch = "";
};

const Case kCases[] = {
    {"Llama", "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}",
     "  optimizer: adamw\n"},
    {"TiedAndWholeBatch", "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, tied: true}", "",
     "micro_batch: 8\n"},
    {"Gpt2",
     "{layers: 2, hidden: 32, heads: 4, ffn: 64, vocab: 256, norm: layernorm, gated: false, "
     "position: learned, positions: 20, bias: true, tied: true}",
     "  kernels: {fused_cross_entropy: true}\n"},
    {"NeoX",
     "{layers: 2, hidden: 32, heads: 4, ffn: 64, vocab: 256, norm: layernorm, gated: false, "
     "rotary_fraction: 0.25, bias: true, parallel_residual: true}"},
    {"TanhAndNumbers",
     "{layers: 2, hidden: 32, heads: 4, ffn: 64, vocab: 256, norm: layernorm, bias: true, "
     "activation: gelu_tanh, norm_epsilon: 1e-3, rotary_base: 500}"},
    {"SharedNorm",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 1, ffn: 64, vocab: 256, norm: layernorm, "
     "gated: false, parallel_residual: true, shared_input_norm: true, head_bias: true}",
     "  optimizer: sgd\n"},
    {"Qwen3",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, head_dim: 16, ffn: 48, vocab: 256, "
     "qk_norm: true}"},
    {"Windows",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, window: [5, 0], gated: false, "
     "activation: relu2, embedding_norm: true}"},
    {"Selective", "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}", "",
     "micro_batch: 2\nrecompute: selective\n"},
    {"Full", "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}", "",
     "micro_batch: 4\nrecompute: full\n"},
    {"EverySecond", "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}", "",
     "micro_batch: 2\nrecompute: {every: 2}\n"},
    {"ModulesNormAndMlp", "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}", "",
     "micro_batch: 2\nrecompute: {modules: [norm, mlp]}\n"},
    {"ModulesOfBranches",
     "{layers: 4, hidden: 32, heads: 4, kv_heads: 1, ffn: 64, vocab: 256, norm: layernorm, "
     "gated: false, parallel_residual: true, shared_input_norm: true, dropout: 0.2}",
     "", "micro_batch: 2\nrecompute: {modules: [core_attn, mlp, norm], every: 3}\n"},
    {"ModulesOfExperts",
     "{layers: 4, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 8, top_k: 3, "
     "ffn: 16, shared_ffn: 40, shared_gate: true, normalize_top_k: false, every: 2}}",
     "  routing: learned\n", "micro_batch: 4\nrecompute: {modules: [moe, mlp, norm]}\n"},
    {"WeighedBeforeTheSecondProduct",
     "{layers: 4, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 8, top_k: 3, "
     "ffn: 16, shared_ffn: 40, shared_gate: true, normalize_top_k: false, every: 2}}",
     "  routing: learned\n  kernels: {expert_weights: before}\n",
     "micro_batch: 4\nrecompute: {modules: [moe_act]}\n"},
    {"ModulesInsideExperts",
     "{layers: 4, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 8, top_k: 3, "
     "ffn: 16, shared_ffn: 40, shared_gate: true, normalize_top_k: false, every: 2}}",
     "  routing: learned\n", "micro_batch: 4\nrecompute: {modules: [moe_act, shared_experts]}\n"},
    {"Dropout",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, window: [5, 0], "
     "embedding_norm: true, dropout: 0.2}"},
    {"DropoutTogether",
     "{layers: 2, hidden: 36, heads: 2, ffn: 64, vocab: 256, norm: layernorm, gated: false, "
     "bias: true, parallel_residual: true, dropout: 0.5}",
     "", "micro_batch: 4\nrecompute: full\n"},
    {"DropoutAmongExperts",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, vocab: 256, dropout: 0.1, "
     "experts: {count: 4, top_k: 2, ffn: 24}}",
     "  routing: learned\n", "micro_batch: 2\nrecompute: selective\n"},
    {"Mixtral",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, vocab: 256, "
     "experts: {count: 4, top_k: 2, ffn: 24}}",
     "  routing: learned\n  optimizer: adamw\n"},
    {"MixtralBalanced",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, vocab: 256, "
     "experts: {count: 4, top_k: 2, ffn: 24}}"},
    {"Qwen2Moe",
     "{layers: 4, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 8, top_k: 3, "
     "ffn: 16, shared_ffn: 40, shared_gate: true, normalize_top_k: false, every: 2}}",
     "  routing: learned\n", "micro_batch: 4\nrecompute: selective\n"},
    {"LeadingDense",
     "{layers: 3, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 6, top_k: 2, "
     "ffn: 16, shared_ffn: 16, leading_dense: 1}}",
     "", "micro_batch: 2\nrecompute: full\n"},
    {"Olmo2",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, norm_placement: after, "
     "qk_norm: whole}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"Gemma2",
     "{layers: [{count: 1, window: 5}, {count: 1}], hidden: 32, heads: 4, kv_heads: 2, ffn: 48, "
     "vocab: 256, tied: true, activation: gelu_tanh, norm_placement: both, "
     "norm_unit_offset: true, qk_norm: head, embedding_scale: 5.5, attention_scale: 0.3, "
     "attention_cap: 0.02, logit_cap: 0.05}",
     "  kernels: {fused_cross_entropy: true}\n", "micro_batch: 2\nrecompute: full\n"},
    {"CapOfLogits",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 250, logit_cap: 0.1, logit_scale: 1.5}"},
    {"OlmoWithoutWeights",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, norm: layernorm, "
     "norm_weight: false, qk_norm: plain}",
     "", "micro_batch: 2\nrecompute: {modules: [norm, mlp]}\n"},
    {"Granite",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, embedding_scale: 12, "
     "residual_scale: 0.22, attention_scale: 0.5, logit_scale: 0.125}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"ScaledBranchesDropped",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, residual_scale: 0.3, dropout: 0.2}"},
    {"Cohere",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, tied: true, "
     "norm: layernorm, parallel_residual: true, shared_input_norm: true, qk_norm: each_head, "
     "logit_scale: 0.0625, residual_scale: 0.7}"},
    {"BiasesOfHeadNorms",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, norm: layernorm, qk_norm: head, "
     "qk_norm_bias: true}"},
    {"GptOss",
     "{layers: [{count: 1, window: 5, feed_forward: experts}, {count: 1, feed_forward: experts}], "
     "hidden: 32, heads: 4, kv_heads: 2, vocab: 256, bias: true, mlp_bias: false, sinks: true, "
     "experts: {count: 4, top_k: 2, ffn: 24, bias: true, router_bias: true}}",
     "  routing: learned\n", "micro_batch: 2\nrecompute: selective\n"},
    {"SinksInProbabilitiesDropped",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, sinks: true, dropout: 0.2, "
     "attention_cap: 0.05}"},
    {"ChunksAndLayersNotRotated",
     "{layers: [{count: 2, window: 5, chunked: true}, {count: 1, rotated: false}], hidden: 32, "
     "heads: 4, ffn: 48, vocab: 256, qk_norm: plain}"},
    {"LayersOfOneBranch",
     "{layers: [{count: 1, feed_forward: none}, {count: 1, mixer: none}, {count: 1, ffn: 64}], "
     "hidden: 32, heads: 4, ffn: 48, vocab: 256}",
     "", "micro_batch: 2\nrecompute: full\n"},
    {"GatesOfAttention",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, attention_gate: true, "
     "qk_norm: head, norm_unit_offset: true}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"PackedDocuments", "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}", "",
     "micro_batch: 2\n",
     ", lengths: {histogram: [[2, 3], [5, 4], [7, 2], [13, 1]]}, packing: greedy"},
    {"PackedDocumentsOfLearnedPositions",
     "{layers: 2, hidden: 32, heads: 4, ffn: 64, vocab: 256, norm: layernorm, gated: false, "
     "position: learned, positions: 16, bias: true, tied: true, window: [5, 0]}",
     "  kernels: {fused_cross_entropy: true}\n", "micro_batch: 4\nrecompute: full\n",
     ", lengths: {histogram: [[3, 3], [8, 4], [16, 1]]}, packing: {kind: first-fit, seed: 5}"},
    {"PaddedDocuments", "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}", "",
     "micro_batch: 2\nrecompute: selective\n",
     ", lengths: {histogram: [[4, 3], [9, 4], [15, 2]]}, packing: {kind: none, pad_to: longest}"},
    {"SigmoidOfTheRouter",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 8, top_k: 3, "
     "ffn: 16, shared_ffn: 16, scoring: sigmoid, scale: 2.5}}",
     "  routing: learned\n"},
    {"Bloom",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, position: alibi, norm: layernorm, "
     "bias: true, gated: false, embedding_norm: true, tied: true}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"AlibiOfSixHeads",
     "{layers: [{count: 1, window: 5}, {count: 1}], hidden: 36, heads: 6, kv_heads: 3, ffn: 48, "
     "vocab: 256, position: alibi, attention_cap: 0.05, dropout: 0.2}"},
    {"AlibiAmongDocuments",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, position: alibi}", "",
     "micro_batch: 2\n",
     ", lengths: {histogram: [[2, 3], [5, 4], [7, 2], [13, 1]]}, packing: greedy"},
    {"ExpertsOfALatentWidth",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, gated: false, activation: relu2, experts: "
     "{count: 8, top_k: 3, ffn: 16, latent: 20, shared_ffn: 24, scoring: sigmoid, scale: 2.5}}",
     "  routing: learned\n", "micro_batch: 2\nrecompute: selective\n"},
    {"ExpertsOfALatentWidthAgain",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, experts: {count: 8, top_k: 3, ffn: 16, "
     "latent: 20}}",
     "  routing: learned\n", "micro_batch: 4\nrecompute: {modules: [moe, norm]}\n"},
    {"Latent",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, latent: {query_rank: 12, kv_rank: 10, "
     "nope_head_dim: 8, rope_head_dim: 4, value_head_dim: 6}}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"SparseLatent",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, latent: {query_rank: 12, kv_rank: 10, "
     "nope_head_dim: 8, rope_head_dim: 4, value_head_dim: 6, index_heads: 16, index_head_dim: 8, "
     "index_top_k: 5}}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"DeepSeekV2Lite",
     "{layers: 3, hidden: 32, heads: 4, ffn: 48, vocab: 256, latent: {query_rank: 0, kv_rank: 10, "
     "nope_head_dim: 6, rope_head_dim: 6, value_head_dim: 8}, experts: {count: 8, top_k: 3, "
     "ffn: 16, shared_ffn: 16, leading_dense: 1, groups: 4, top_groups: 2, scale: 1.5}}",
     "  routing: learned\n", "micro_batch: 2\nrecompute: {modules: [mla_up_proj, norm]}\n"},
    {"DeltaNet",
     "{layers: [{count: 1, mixer: delta_net}, {count: 1}], hidden: 32, heads: 4, kv_heads: 2, "
     "ffn: 48, vocab: 256, state_mixer: {heads: 4, head_dim: 6, groups: 2, state: 8, kernel: 4, "
     "normed: true}}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"Mamba2",
     "{layers: [{count: 2, mixer: mamba2}], hidden: 32, heads: 4, ffn: 48, vocab: 256, "
     "state_mixer: {heads: 4, head_dim: 6, groups: 2, state: 8, kernel: 3, normed: true, "
     "convolution_bias: true, bias: true}}"},
    {"Mamba",
     "{layers: [{count: 2, mixer: mamba, feed_forward: none}], hidden: 32, heads: 4, "
     "vocab: 256, state_mixer: {heads: 24, state: 5, step_rank: 3, convolution_bias: true}}",
     "", "micro_batch: 2\nrecompute: full\n"},
    {"Jamba",
     "{layers: [{count: 1, mixer: mamba, feed_forward: experts}, {count: 1}], hidden: 32, heads: "
     "4, "
     "ffn: 48, vocab: 256, position: none, experts: {count: 4, top_k: 2, ffn: 16, "
     "normalize_top_k: false}, state_mixer: {heads: 24, state: 5, step_rank: 3, "
     "convolution_bias: true, selection_normed: true}}",
     "  routing: learned\n", "micro_batch: 2\nrecompute: selective\n"},
    {"NormsOfTheirOwn",
     "{layers: [{count: 1, norms: after}, {count: 1, norms: both}, {count: 1}], hidden: 32, "
     "heads: 4, ffn: 48, vocab: 256}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"FalconH1",
     "{layers: [{count: 2, beside: mamba2}], hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: "
     "256, state_mixer: {heads: 4, head_dim: 6, groups: 2, state: 8, kernel: 3, "
     "convolution_bias: true}}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"ShortConvolution",
     "{layers: [{count: 1, mixer: short_convolution}, {count: 1}], hidden: 32, heads: 4, ffn: 48, "
     "vocab: 256, state_mixer: {heads: 32, kernel: 3, bias: true, convolution_bias: true}}"},
    {"DeepSeekV3",
     "{layers: 3, hidden: 32, heads: 4, ffn: 48, vocab: 256, latent: {query_rank: 8, kv_rank: 10, "
     "nope_head_dim: 6, rope_head_dim: 6, value_head_dim: 8}, experts: {count: 8, top_k: 3, "
     "ffn: 16, shared_ffn: 16, leading_dense: 1, groups: 4, top_groups: 2, scale: 2.5, "
     "scoring: sigmoid, correction_bias: true}, multi_token_layers: 1, count_multi_token: true}",
     "  routing: learned\n", "micro_batch: 2\nrecompute: full\n"},
    {"TwoTokensAhead",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, multi_token_layers: 2, "
     "count_multi_token: true, multi_token_weight: 0.3}",
     "", "micro_batch: 2\nrecompute: selective\n"},
    {"TokensAheadTied",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 250, tied: true, norm: layernorm, "
     "norm_bias: true, embedding_scale: 3, head_bias: true, dropout: 0.1, multi_token_layers: 2, "
     "count_multi_token: true}",
     "  kernels: {fused_cross_entropy: true}\n"},
    {"ClampedExperts",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, activation: clamped_swiglu, "
     "embedding_scale: 50, norm_unit_offset: true, experts: {count: 4, top_k: 2, ffn: 24, "
     "bias: true}}",
     "  routing: learned\n"},
    {"BaseOfWindows",
     "{layers: [{count: 1, window: 5}, {count: 1}], hidden: 32, heads: 4, ffn: 48, vocab: 256, "
     "window_rotary_base: 50, rotary_base: 3000}"},
    {"NormsOverAllHeadsWithMeans",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, norm: layernorm, "
     "qk_norm: whole, qk_norm_bias: true}"},
    {"Adapters", "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}",
     "  adapters: {rank: 3, alpha: 5}\n", "micro_batch: 2\nrecompute: selective\n"},
    {"AdaptersOfParts",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, tied: true, "
     "qk_norm: true, bias: true}",
     "  adapters: {rank: 2, targets: [q, v, up, fc2], dropout: 0.2}\n",
     "micro_batch: 2\nrecompute: full\n"},
    {"AdaptersJoined",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, norm: layernorm}",
     "  adapters: {rank: 4, targets: [qkv, fc1], joined: true}\n  frozen: [layers 0]\n",
     "micro_batch: 2\nrecompute: {modules: [mlp, norm]}\n"},
    {"AdaptersOfLatents",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, latent: {query_rank: 12, kv_rank: 10, "
     "nope_head_dim: 8, rope_head_dim: 4, value_head_dim: 6}}",
     "  adapters: {rank: 3, alpha: 5, dropout: 0.1}\n", "micro_batch: 2\n"},
    {"AdaptersOfLatentKeys",
     "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, latent: {query_rank: 0, kv_rank: 10, "
     "nope_head_dim: 6, rope_head_dim: 6, value_head_dim: 8}, experts: {count: 8, top_k: 3, "
     "ffn: 16, shared_ffn: 16, leading_dense: 1}}",
     "  routing: learned\n  adapters: {rank: 2, targets: [q, kv_down, kv_up, up]}\n",
     "micro_batch: 2\nrecompute: {modules: [mla_up_proj, moe]}\n"},
    {"AdaptersBesideRoutersThatAreCorrected",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 4, top_k: 2, "
     "ffn: 24, scoring: sigmoid, correction_bias: true}}",
     "  routing: learned\n  adapters: {rank: 3, alpha: 5}\n"},
    {"FrozenRoutersThatAreCorrected",
     "{layers: 3, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 4, top_k: 2, "
     "ffn: 24, scoring: sigmoid, correction_bias: true}}",
     "  routing: learned\n  frozen: [layers 1]\n"},
    {"AdaptersOfExperts",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 4, top_k: 2, "
     "ffn: 24, shared_ffn: 40, shared_gate: true}}",
     "  routing: learned\n  adapters: {rank: 3, alpha: 5}\n",
     "micro_batch: 2\nrecompute: selective\n"},
    {"AdaptersOfExpertsJoined",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, ffn: 48, tied: true, experts: {count: 4, "
     "top_k: 2, ffn: 24, leading_dense: 1, bias: true}}",
     "  adapters: {rank: 2, targets: [fc1, fc2], joined: true}\n",
     "micro_batch: 2\nrecompute: full\n"},
    {"FrozenLayers",
     "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, dropout: 0.1}",
     "  frozen: [embedding, layers 0-1]\n"},
    {"FrozenInTheMiddle", "{layers: 3, hidden: 32, heads: 4, ffn: 48, vocab: 256, tied: true}",
     "  frozen: [layers 1]\n"},
    {"FrozenTable", "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, tied: true}",
     "  frozen: [embedding]\n"},
    {"NarrowMoments",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, tied: true}",
     "  optimizer: adam_bf16\n"},
    {"Muon", "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, bias: true}",
     "  optimizer: muon\n"},
    {"MuonOfExperts",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, ffn: 48, tied: true, experts: {count: 4, "
     "top_k: 2, ffn: 24, shared_ffn: 40}}",
     "  routing: learned\n  optimizer: muon\n"},
    {"EightBits", "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}",
     "  optimizer: adam8bit\n"},
    {"Adafactor",
     "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, qk_norm: true}",
     "  optimizer: adafactor\n"},
    {"AdafactorOfExperts",
     "{layers: 2, hidden: 32, heads: 4, vocab: 250, ffn: 48, tied: true, experts: {count: 4, "
     "top_k: 2, ffn: 24, shared_ffn: 40, shared_gate: true}}",
     "  routing: learned\n  optimizer: adafactor\n"},
    {"OnTheHost",
     "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256, qk_norm: true}",
     "  optimizer: adamw\n",
     "micro_batch: 2\nrecompute: selective\noffload: {optimizer: 0.4, activations: [attn_norm, "
     "qkv_linear, core_attn, attn_proj, mlp_norm, mlp_fc1, mlp_act]}\n"},
    {"InputsOfLayersOnTheHost",
     "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 256}",
     "  adapters: {rank: 3, alpha: 5}\n",
     "micro_batch: 2\nrecompute: full\noffload: {activations: [layer_input]}\n"},
    {"ExpertsOnTheHost",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, ffn: 48, experts: {count: 4, top_k: 2, "
     "ffn: 24}}",
     "  routing: learned\n",
     "micro_batch: 2\noffload: {optimizer: 1, masters: false, activations: [expert_fc1, "
     "moe_act]}\n"},
    {"OneExpertATokenWithoutGate",
     "{layers: 2, hidden: 32, heads: 4, vocab: 256, gated: false, activation: relu2, ffn: 48, "
     "experts: {count: 3, top_k: 1, ffn: 40, normalize_top_k: false}}",
     "  routing: learned\n  optimizer: sgd\n"},
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

/// Expects weights without adapters to stay unchanged; their files contain only adapters.
void expect_unmoved_base(const Values& before, const Values& after) {
  for (const auto& [name, value] : before) {
    if (name.find("_lora_") != std::string::npos) continue;
    EXPECT_EQ(value, after.at(name)) << name;
  }
}

class Learning : public ::testing::TestWithParam<Case> {};

TEST_P(Learning, EqualsAutograd) {
  const Case& one = GetParam();
  const std::string text = plan_text_of(
      {.model = one.model, .job = one.job, .choices = one.choices, .batch = one.batch});
  const Trained before = train({.plan = text, .steps = 0});
  ASSERT_EQ(before.exit_code, 0) << before.errors;
  const Trained here = train({.plan = text, .steps = 4, .options = {"--lr 0.01"}});
  ASSERT_EQ(here.exit_code, 0) << here.errors;
  const Folder folder;
  const auto path = folder / "reference.yaml";
  std::ofstream(path) << text;
  runtime::TrainOptions options;
  options.data = training_text();
  options.steps = 4;
  options.learning_rate = 0.01;
  const plan::Job job = plan::load_plan(path).job;
  const Trained there = train_reference(job, before.weights, options);
  ASSERT_EQ(here.losses.size(), there.losses.size());
  for (std::size_t i = 0; i < here.losses.size(); ++i) {
    EXPECT_NEAR(here.losses[i], there.losses[i], kBound * (1 + there.losses[i]));
    EXPECT_NEAR(here.norms[i], there.norms[i], kBound * (1 + there.norms[i]));
  }
  EXPECT_LE(distance(there.gradients, here.gradients), kBound);
  EXPECT_LE(distance(there.weights, here.weights), kBound);
  // Only frozen weights, and those of indexers, have no gradients.
  EXPECT_EQ(all_zero(here.gradients), all_zero(there.gradients));
  const bool rests = job.model.has_frozen_weights() || job.model.has_sparse_attention_indexer();
  EXPECT_EQ(all_zero(there.gradients).empty(), !rests);
  if (job.model.adapters) expect_unmoved_base(before.weights, here.weights);
}

TEST(Gate, TakesTheLowestOfEqualExperts) {
  const at::Tensor rows = at::tensor({0.5, 1.0, 0.5, 1.0, 0.5, 2.0, 2.0, 2.0}).view({2, 4});
  EXPECT_TRUE(runtime::top_k_indices_of_rows(rows, 3).equal(
      at::tensor({1, 3, 0, 1, 2, 3}, at::kLong).view({2, 3})));
}

INSTANTIATE_TEST_SUITE_P(Models, Learning, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace stepwright::testing
