#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/model/adapters.h"
#include "stepwright/model/encoder.h"

namespace stepwright::model {

enum class Norm : std::uint8_t { kRms, kLayer };
/// Where norms stand in a branch of a layer: before it (GPT-2), on its result before that is added
/// to the residual stream (OLMo-2), or in both places (Gemma-2).
enum class NormPlacement : std::uint8_t { kBefore, kAfter, kBoth };
/// Norms of queries and keys: none, over each head with one weight of `head_dim` (Qwen3), with
/// weights for every head (Cohere, StableLM), over all heads at once (OLMo-2), or over each head
/// without weights (Llama 4).
enum class QkNorm : std::uint8_t { kNone, kHead, kEachHead, kWhole, kPlain };
/// The way a layer mixes tokens. `kNone`: the layer has a feed-forward alone.
enum class Mixer : std::uint8_t {
  kAttention,
  kDeltaNet,
  kMamba2,
  kMamba,
  kShortConvolution,
  kNone
};
enum class FeedForward : std::uint8_t { kDense, kExperts, kNone };
/// `kSinusoidal` adds fixed waves to the embedded tokens: sines, then cosines of the same.
enum class Position : std::uint8_t { kRope, kLearned, kAlibi, kNone, kSinusoidal };
/// `kGelu` is x times the normal distribution function, `kGeluTanh` the approximation of it by a
/// hyperbolic tangent that GPT-2 was trained with.
/// `kQuickGelu` is x times the logistic function of 1.702 x; `kClampedSwiglu` that of clamped gates
/// times clamped ups plus one (gpt-oss); `kXielu` has two trained numbers (Apertus).
enum class Activation : std::uint8_t {
  kSilu,
  kGelu,
  kRelu,
  kSquaredRelu,
  kGeluTanh,
  kQuickGelu,
  kClampedSwiglu,
  kXielu
};
/// How a router turns logits into weights of experts.
enum class Scoring : std::uint8_t { kSoftmax, kSigmoid };
/// How rotary frequencies are changed for sequences longer than those of the first training.
enum class RotaryScalingKind : std::uint8_t {
  kLinear,
  kLlama3,
  kDynamic,
  kYarn,
  kLongRope,
  kOther
};

inline constexpr Named<Norm> kNormNames[] = {{Norm::kRms, "rmsnorm"}, {Norm::kLayer, "layernorm"}};
inline constexpr Named<NormPlacement> kNormPlacementNames[] = {{NormPlacement::kBefore, "before"},
                                                               {NormPlacement::kAfter, "after"},
                                                               {NormPlacement::kBoth, "both"}};
inline constexpr Named<QkNorm> kQkNormNames[] = {{QkNorm::kNone, "none"},
                                                 {QkNorm::kHead, "head"},
                                                 {QkNorm::kEachHead, "each_head"},
                                                 {QkNorm::kWhole, "whole"},
                                                 {QkNorm::kPlain, "plain"}};
inline constexpr Named<Mixer> kMixerNames[] = {{Mixer::kAttention, "attention"},
                                               {Mixer::kDeltaNet, "delta_net"},
                                               {Mixer::kMamba2, "mamba2"},
                                               {Mixer::kMamba, "mamba"},
                                               {Mixer::kShortConvolution, "short_convolution"},
                                               {Mixer::kNone, "none"}};
inline constexpr Named<FeedForward> kFeedForwardNames[] = {{FeedForward::kDense, "dense"},
                                                           {FeedForward::kExperts, "experts"},
                                                           {FeedForward::kNone, "none"}};
inline constexpr Named<Scoring> kScoringNames[] = {{Scoring::kSoftmax, "softmax"},
                                                   {Scoring::kSigmoid, "sigmoid"}};
inline constexpr Named<Position> kPositionNames[] = {{Position::kRope, "rope"},
                                                     {Position::kLearned, "learned"},
                                                     {Position::kAlibi, "alibi"},
                                                     {Position::kNone, "none"},
                                                     {Position::kSinusoidal, "sinusoidal"}};
inline constexpr Named<Activation> kActivationNames[] = {
    {Activation::kSilu, "silu"},
    {Activation::kGelu, "gelu"},
    {Activation::kRelu, "relu"},
    {Activation::kSquaredRelu, "relu2"},
    {Activation::kGeluTanh, "gelu_tanh"},
    {Activation::kQuickGelu, "gelu_quick"},
    {Activation::kClampedSwiglu, "clamped_swiglu"},
    {Activation::kXielu, "xielu"}};
inline constexpr Named<RotaryScalingKind> kRotaryScalingNames[] = {
    {RotaryScalingKind::kLinear, "linear"},     {RotaryScalingKind::kLlama3, "llama3"},
    {RotaryScalingKind::kDynamic, "dynamic"},   {RotaryScalingKind::kYarn, "yarn"},
    {RotaryScalingKind::kLongRope, "longrope"}, {RotaryScalingKind::kOther, "other"}};

/// A change of rotary frequencies. `linear` divides all of them by `factor`. `llama3` divides those
/// that turn fewer than `low_frequency` times in `original_positions`, keeps those that turn more
/// than `high_frequency` times, and interpolates between by their turns (Llama 3.1); `yarn` does so
/// by their numbers (arXiv 2309.00071). `longrope` divides each by a factor of its own (arXiv
/// 2402.13753). `dynamic` stretches the base. Of `other` only the name is kept.
struct RotaryScaling {
  RotaryScalingKind kind = RotaryScalingKind::kLinear;
  double factor = 1;
  double low_frequency = 1;
  double high_frequency = 4;
  std::int64_t original_positions = 8192;
  /// Factor on sines and cosines, of `yarn` and `longrope`; 0: follows from the other numbers.
  double attention_factor = 0;
  bool rounded = true;  ///< The numbers between which `yarn` interpolates are whole.
  /// Weights of the logarithm of `factor` in what it follows from; the second also scales the
  /// scores of latent attention (DeepSeek-V2, -V3), 0: not.
  double mscale = 1;
  double mscale_all_dim = 0;
  /// Factors of `longrope`, one for each pair: for sequences up to `original_positions`, and for
  /// longer ones.
  std::vector<double> short_factors = {};
  std::vector<double> long_factors = {};
  bool operator==(const RotaryScaling&) const = default;
};

/// One of a kind with the numbers that are usual for it.
RotaryScaling usual_scaling(RotaryScalingKind kind);

/// Multi-head latent attention (DeepSeek-V2, -V3): queries, keys and values go through low-rank
/// projections. Heads have `nope_head_dim + rope_head_dim` for scores, `value_head_dim` for values.
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< 0: queries are projected directly.
  std::int64_t kv_rank = 512;
  std::int64_t nope_head_dim = 128;
  std::int64_t rope_head_dim = 64;
  std::int64_t value_head_dim = 128;
  /// An indexer scores keys with `index_heads` queries of `index_head_dim` elements and leaves each
  /// token `index_top_k` of them (DeepSeek-V3.2); 0: every token sees all before it.
  std::int64_t index_heads = 0;
  std::int64_t index_head_dim = 128;
  std::int64_t index_top_k = 2048;
  auto operator<=>(const LatentAttention&) const = default;
};

/// Mixture of experts in place of the MLP of some layers.
struct Experts {
  std::int64_t count = 0;       ///< Routed experts of a layer.
  std::int64_t top_k = 0;       ///< Routed experts per token.
  std::int64_t ffn = 0;         ///< Intermediate width of one routed expert.
  std::int64_t shared_ffn = 0;  ///< Total intermediate width of the shared experts; 0: none.
  /// Width of the rows that routed experts work on, behind a projection into it and before one out
  /// of it that all of them share (Nemotron 3); 0: that of the model.
  std::int64_t latent = 0;
  bool shared_gate = false;      ///< The shared expert's output is gated (Qwen2-MoE).
  bool correction_bias = false;  ///< One non-trained bias per expert (DeepSeek-V3).
  bool normalize_top_k = true;   ///< The weights of a token's top k add up to 1.
  bool bias = false;             ///< Biases in the routed experts (gpt-oss).
  bool router_bias = false;      ///< A trained bias of the router's logits (gpt-oss).
  Scoring scoring = Scoring::kSoftmax;
  std::int64_t groups = 1;      ///< Groups of experts of which a token chooses some first.
  std::int64_t top_groups = 1;  ///< Groups that a token's experts come from.
  double scale = 1;             ///< Factor on the routed experts' sum.
  bool operator==(const Experts&) const = default;
};

/// A mixer whose layers carry a state along the sequence (`Mixer::kDeltaNet`, `kMamba2`, `kMamba`)
/// behind a short causal convolution over tokens, or of that convolution alone
/// (`kShortConvolution`). The state of a head is `state x head_dim`; keys and queries (B and C of
/// Mamba) have `state` elements in each of `groups` heads, values `head_dim` in each of `heads`.
/// Mamba's first version has `heads` channels of one element each and one group.
struct StateMixer {
  std::int64_t heads = 0;
  std::int64_t head_dim = 1;
  std::int64_t groups = 1;
  std::int64_t state = 0;      ///< 0 in a short convolution.
  std::int64_t kernel = 4;     ///< Tokens of the causal convolution.
  std::int64_t chunk = 64;     ///< Tokens that are worked on at once in a scan.
  std::int64_t step_rank = 0;  ///< Mamba: rank of the projection of step sizes.
  bool convolution_bias = false;
  bool bias = false;  ///< Biases of the projections into and out of it.
  /// Whether the values of its result, gated, are normed: over each head (delta net), over groups
  /// of heads (Mamba-2), or not.
  bool normed = false;
  bool selection_normed = false;  ///< Mamba: norms of step sizes, B and C (Jamba).
  auto operator<=>(const StateMixer&) const = default;

  /// Groups that tensor ranks share evenly, beside `heads`: those whose keys and queries are
  /// projected by head; 0 where none are (Mamba, short convolutions).
  [[nodiscard]] std::int64_t dealt_groups() const {
    return state > 0 && step_rank == 0 ? groups : 0;
  }
};

/// How far the gradient of the loss goes through a layer; what is frozen decides it.
enum class GradientPath : std::uint8_t {
  kThrough,  ///< The gradient goes on to the layer below.
  kEnds,     ///< The gradient ends at the layer's own weights: nothing below is trained.
  kAbove,    ///< It ends above: the layer has no backward.
};

/// A layer: what mixes tokens and the feed-forward behind it. Few distinct ones per model.
struct LayerClass {
  Mixer mixer = Mixer::kAttention;
  Mixer beside = Mixer::kNone;  ///< A second one that reads the same rows, added (Falcon-H1).
  FeedForward feed_forward = FeedForward::kDense;
  std::int64_t window = 0;     ///< Tokens that attention reaches back; 0: all.
  bool chunked = false;        ///< `window` cuts the sequence into chunks that see none of another.
  bool rotated = true;         ///< False: without the model's rotary positions.
  std::int64_t ffn = 0;        ///< Width of a dense MLP of its own; 0: the model's.
  bool bidirectional = false;  ///< Every token sees all others: of an encoder.
  /// The two follow from what the model freezes, and are never part of `Architecture::pattern`.
  bool frozen = false;  ///< None of its weights is trained, and it has no adapters.
  GradientPath gradients = GradientPath::kThrough;
  std::optional<NormPlacement> norms = {};  ///< Place of the norms, if not as in the model.
  auto operator<=>(const LayerClass&) const = default;

  [[nodiscard]] bool has_experts() const { return feed_forward == FeedForward::kExperts; }
  [[nodiscard]] bool attends() const { return mixer == Mixer::kAttention; }
  [[nodiscard]] bool has_mixer(Mixer kind) const {
    return mixer == kind || (kind != Mixer::kNone && beside == kind);
  }
  /// The mixer that carries a state; `kNone`: there is none.
  [[nodiscard]] Mixer carrier() const { return attends() ? beside : mixer; }
};

/// A decoder-only model: everything that decides its parameters, operators and messages.
/// Sizes are element counts. Built by `built_in_model`, `read_config` or `read_inline_model`, which
/// guarantee `check`ed values.
struct Architecture {
  std::string name = {};
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  ///< Width of a head of queries and keys; with `latent` nope + rope.
  std::int64_t ffn = 0;  ///< Intermediate width of the dense MLP; 0 only where no layer has one.
  std::int64_t vocabulary = 0;
  std::int64_t positions =
      0;              ///< Longest sequence the model states (rows of a learned table); 0: none.
  bool gated = true;  ///< MLP with a gate (SwiGLU, GeGLU): three matrices instead of two.
  Activation activation = Activation::kSilu;
  Norm norm = Norm::kRms;
  bool norm_bias = false;         ///< LayerNorm with a bias vector beside its weight.
  bool norm_weight = true;        ///< False: norms without weights (OLMo).
  bool norm_unit_offset = false;  ///< Norms multiply by 1 + weight (Gemma).
  NormPlacement norm_placement = NormPlacement::kBefore;
  double norm_epsilon = 1e-5;  ///< Added to the variance in every norm.
  /// Epsilon of norms of latent rows and of gated norms of delta nets; 0: `norm_epsilon`.
  double inner_norm_epsilon = 0;
  Position position = Position::kRope;
  /// First position of a learned table or of waves: 2 in OPT and XGLM.
  std::int64_t first_position = 0;
  double rotary_fraction = 1.0;  ///< Share of the head dimension that is rotated.
  double rotary_base = 10000;    ///< Base of the wavelengths of rotary positions or waves.
  std::optional<RotaryScaling> rotary_scaling = {};
  /// `rotary_base` of layers with a window, whose frequencies are not scaled then (Gemma-3); 0: as
  /// in the others.
  double window_rotary_base = 0;
  bool qkv_bias = false;
  bool attention_output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;  ///< Bias of the language-model head.
  QkNorm qk_norm = QkNorm::kNone;
  bool qk_norm_bias = false;       ///< Biases of the norms of queries and keys.
  bool attention_gate = false;     ///< The core's result times a sigmoid of its own projection.
  bool gate_bias = false;          ///< A bias per head of those gates (Beam).
  bool sinks = false;              ///< A trained logit per head in every softmax (gpt-oss).
  double attention_scale = 0;      ///< Factor on the scores; 0: one over the root of `head_dim`.
  double attention_cap = 0;        ///< Bound of the scores by a hyperbolic tangent; 0: none.
  double logit_cap = 0;            ///< Bound of the head's logits by a hyperbolic tangent; 0: none.
  double logit_scale = 1;          ///< Factor on the head's logits.
  double embedding_scale = 1;      ///< Factor on embedded tokens.
  double residual_scale = 1;       ///< Factor on what a branch adds to the residual stream.
  bool embedding_norm = false;     ///< A norm right after the embedding (BLOOM).
  bool parallel_residual = false;  ///< Attention and MLP read the same input (GPT-NeoX).
  bool shared_input_norm =
      false;             ///< If `parallel_residual`: one norm feeds both branches (GPT-J, Falcon).
  bool tied = false;     ///< Embedding and head share one table.
  double dropout = 0.0;  ///< Hidden and attention dropout in training; masks are kept.
  std::optional<LatentAttention> latent = {};
  std::optional<Experts> experts = {};
  /// Encoder of images, which the decoder's counts leave out.
  std::optional<Encoder> encoder = {};
  std::optional<StateMixer> state_mixer = {};  ///< Mixer of the layers that carry a state.
  /// Layer by layer. Empty: all attend, with experts where the model has them.
  std::vector<LayerClass> pattern = {};
  std::int64_t multi_token_layers = 0;  ///< Multi-token-prediction layers that the model carries.
  bool count_multi_token = false;       ///< Whether they are part of the step and of the counts.
  /// Weight of the multi-token layers' mean loss in what is minimised (Megatron-LM,
  /// `--mtp-loss-scaling-factor`).
  double multi_token_weight = 0.1;
  /// Adapters beside the weights, which are frozen then: the job says so, like `frozen`.
  std::optional<Adapters> adapters = {};
  Frozen frozen = {};
  /// Computation beyond all this that needs neither parameters nor products: clipped queries
  /// (DBRX), a temperature by position (Llama 4). Counts and plans hold; nobody executes it.
  std::string beyond = {};

  /// How many tokens further than the next one a step learns to predict.
  [[nodiscard]] std::int64_t predicted_ahead() const {
    return count_multi_token ? multi_token_layers : 0;
  }

  /// The class of every layer where `pattern` is empty.
  [[nodiscard]] LayerClass usual_layer() const;
  /// The width of a layer's dense MLP.
  [[nodiscard]] std::int64_t dense_width(const LayerClass& layer) const {
    return layer.ffn > 0 ? layer.ffn : ffn;
  }
  /// The class of layer `layer` (0-based) as the model describes it, whatever is trained of it; of
  /// multi-token layers, which are numbered behind the others, that of the last one.
  [[nodiscard]] LayerClass described_layer(std::int64_t layer) const;
  /// Class of a layer, with the parts of it that are trained.
  [[nodiscard]] LayerClass layer_class(std::int64_t layer) const;
  /// Whether a step corrects the routers of such layers by the loads of their experts: not those
  /// of layers of which nothing is trained, and none beside adapters, whose files have no place
  /// for what the base has moved.
  [[nodiscard]] bool corrects_routers(const LayerClass& layer) const {
    const bool corrects = experts && experts->correction_bias && layer.has_experts();
    return corrects && !adapters && !layer.frozen;
  }
  /// Whether some weights are not trained.
  [[nodiscard]] bool freezes() const { return adapters.has_value() || frozen.any(); }
  /// Whether a step encodes images ahead of the first layer.
  [[nodiscard]] bool sees_images() const { return encoder && encoder->takes_part(); }
  /// Whether something below the first layer is trained.
  [[nodiscard]] bool trains_below() const;
  /// How many layers there are of each class; multi-token layers are not among them.
  [[nodiscard]] std::map<LayerClass, std::int64_t> layer_classes() const;
  /// Width of the value of one head: `head_dim` unless `latent`.
  [[nodiscard]] std::int64_t value_dim() const {
    return latent ? latent->value_head_dim : head_dim;
  }
  /// Whether norms stand before each branch of a layer, and on its result.
  [[nodiscard]] bool norms_inputs(const LayerClass& layer) const {
    return layer.norms.value_or(norm_placement) != NormPlacement::kAfter;
  }
  [[nodiscard]] bool norms_results(const LayerClass& layer) const {
    return layer.norms.value_or(norm_placement) != NormPlacement::kBefore;
  }
  /// Width of the rows that routed experts work on.
  [[nodiscard]] std::int64_t routed_width() const {
    return experts && experts->latent > 0 ? experts->latent : hidden;
  }
  /// The longest sequence that a learned table has rows for.
  [[nodiscard]] std::int64_t longest() const { return positions - first_position; }
  /// Pairs of a head, or of its part with positions, that rotary positions turn.
  [[nodiscard]] std::int64_t rotary_pairs() const;
  /// Whether layers with experts have some that every token goes through.
  [[nodiscard]] bool has_shared_experts() const { return experts && experts->shared_ffn > 0; }
  /// Whether an indexer chooses the keys that a token sees.
  [[nodiscard]] bool has_indexer() const { return latent && latent->index_heads > 0; }
  bool operator==(const Architecture&) const = default;
};

/// Largest size of anything but layers.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
inline constexpr std::int64_t kLargestLayers = std::int64_t{1} << 12;  ///< Layers of one model.

/// A model with the dropout, the multi-token layers, the adapters and the frozen parts of another:
/// what a job says beside its model.
Architecture trained_like(Architecture model, const Architecture& other);

/// Throws `Error{kInput}` with the field, its value and the rule when sizes are absurd or
/// contradict each other (zero, beyond `kLargestSize`, heads not a multiple of kv_heads, top_k
/// above count, 2^62 parameters, ...). After it no count of this room overflows. `where` opens the
/// message (a file or "model").
void check(const Architecture& model, const std::string& where);

}  // namespace stepwright::model
