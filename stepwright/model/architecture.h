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
/// Position of the norms in a branch of a layer: before the branch (GPT-2), on the branch's result
/// before it is added to the residual stream (OLMo-2), or both (Gemma-2).
enum class NormPlacement : std::uint8_t { kBefore, kAfter, kBoth };
/// How queries and keys are normed: not at all; each head, with one shared weight of `head_dim`
/// (kHead, Qwen3) or with a weight for each head (kEachHead, Cohere, StableLM); all heads together
/// (kWhole, OLMo-2); or each head without weights (kPlain, Llama 4).
enum class QkNorm : std::uint8_t { kNone, kHead, kEachHead, kWhole, kPlain };
/// How a layer mixes tokens. `kNone`: the layer has only a feed-forward.
enum class Mixer : std::uint8_t {
  kAttention,
  kDeltaNet,
  kMamba2,
  kMamba,
  kShortConvolution,
  kNone
};
enum class FeedForward : std::uint8_t { kDense, kExperts, kNone };
/// How the model encodes positions. `kSinusoidal` adds fixed sines and cosines to the embedded
/// tokens.
enum class PositionEncoding : std::uint8_t { kRope, kLearned, kAlibi, kNone, kSinusoidal };
/// Activation of an MLP. `kGelu` is x times the normal distribution function; `kGeluTanh`
/// approximates it by a hyperbolic tangent, as GPT-2 was trained.
/// `kQuickGelu` is x times the logistic function of 1.702 x. `kClampedSwiglu` clamps gates and ups,
/// then multiplies the quick GELU of the gates by ups plus one (gpt-oss). `kXielu` has two trained
/// numbers (Apertus).
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
/// How a router turns logits into the weights of the chosen experts.
enum class RouterScoring : std::uint8_t { kSoftmax, kSigmoid };
/// How rotary frequencies are changed for sequences longer than in the first training.
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
inline constexpr Named<RouterScoring> kScoringNames[] = {{RouterScoring::kSoftmax, "softmax"},
                                                         {RouterScoring::kSigmoid, "sigmoid"}};
inline constexpr Named<PositionEncoding> kPositionNames[] = {
    {PositionEncoding::kRope, "rope"},
    {PositionEncoding::kLearned, "learned"},
    {PositionEncoding::kAlibi, "alibi"},
    {PositionEncoding::kNone, "none"},
    {PositionEncoding::kSinusoidal, "sinusoidal"}};
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

/// A change of the rotary frequencies for longer sequences. `linear` divides every frequency by
/// `factor`.
/// `llama3` divides a frequency that makes fewer than `low_frequency` turns in
/// `original_positions`, keeps one that makes more than `high_frequency` turns, and interpolates
/// between by the number of turns (Llama 3.1). `yarn` does the same but interpolates by the index
/// of the frequency (arXiv 2309.00071).
/// `longrope` divides each frequency by a factor of its own (arXiv 2402.13753). `dynamic` enlarges
/// the rotary base. For `other` only the name is kept.
struct RotaryScaling {
  RotaryScalingKind kind = RotaryScalingKind::kLinear;
  double factor = 1;
  double low_frequency = 1;
  double high_frequency = 4;
  std::int64_t original_positions = 8192;
  /// Factor of `yarn` and `longrope` on sines and cosines; 0: derived from the other numbers.
  double attention_factor = 0;
  bool rounded = true;  ///< True if `yarn` rounds the bounds of its interpolation to whole indices.
  /// Weights of the logarithm of `factor` in the derived `attention_factor`. `mscale_all_dim` also
  /// scales the attention scores of latent attention (DeepSeek-V2, -V3); 0: no such scale.
  double mscale = 1;
  double mscale_all_dim = 0;
  /// Divisors of the `longrope` frequencies, one for each rotated pair: `short_factors` for
  /// sequences up to `original_positions`, `long_factors` for longer ones.
  std::vector<double> short_factors = {};
  std::vector<double> long_factors = {};
  bool operator==(const RotaryScaling&) const = default;
};

/// Returns a scaling of this kind with the numbers that are usual for it.
RotaryScaling usual_scaling(RotaryScalingKind kind);

/// Multi-head latent attention (DeepSeek-V2, -V3): queries, keys and values go through low-rank
/// projections. Heads have `nope_head_dim + rope_head_dim` for scores, `value_head_dim` for values.
struct LatentAttention {
  /// Rank of the query projection; 0: queries are projected directly.
  std::int64_t query_rank = 0;
  std::int64_t kv_rank = 512;
  std::int64_t nope_head_dim = 128;
  std::int64_t rope_head_dim = 64;
  std::int64_t value_head_dim = 128;
  /// Heads of the indexer, which scores keys with `index_heads` queries of `index_head_dim`
  /// elements and lets each token attend to its best `index_top_k` keys (DeepSeek-V3.2). 0: no
  /// indexer, every token attends to all tokens before it.
  std::int64_t index_heads = 0;
  std::int64_t index_head_dim = 128;
  std::int64_t index_top_k = 2048;
  auto operator<=>(const LatentAttention&) const = default;
};

/// Mixture of experts, which replaces the MLP of some layers.
struct Experts {
  std::int64_t count = 0;       ///< Number of routed experts in a layer.
  std::int64_t top_k = 0;       ///< Number of routed experts that each token uses.
  std::int64_t ffn = 0;         ///< Intermediate width of one routed expert.
  std::int64_t shared_ffn = 0;  ///< Total intermediate width of the shared experts; 0: none.
  /// Width of the rows that routed experts work on, if two projections that all experts share lead
  /// into that width and back out of it (Nemotron 3); 0: the model's hidden width.
  std::int64_t latent = 0;
  bool shared_gate = false;      ///< The shared expert's output is gated (Qwen2-MoE).
  bool correction_bias = false;  ///< One bias per expert that gradients do not train (DeepSeek-V3).
  /// True if the weights of a token's chosen experts are normalised to add up to 1.
  bool normalize_top_k = true;
  bool bias = false;         ///< Routed experts have biases (gpt-oss).
  bool router_bias = false;  ///< The router's logits have a trained bias (gpt-oss).
  RouterScoring scoring = RouterScoring::kSoftmax;
  /// Groups that the experts are divided into; a token first chooses groups.
  std::int64_t groups = 1;
  std::int64_t top_groups = 1;  ///< Number of groups that a token chooses its experts from.
  double scale = 1;             ///< Factor on the sum of the routed experts' results.
  bool operator==(const Experts&) const = default;
};

/// A mixer whose layers carry a state along the sequence (`Mixer::kDeltaNet`, `kMamba2`, `kMamba`)
/// behind a short causal convolution over tokens, or that convolution alone (`kShortConvolution`).
/// The state of a head is `state x head_dim`. Keys and queries (B and C of Mamba) have `state`
/// elements in each of `groups` heads, values `head_dim` in each of `heads`. Mamba's first version
/// has `heads` channels of one element each and one group.
struct StateMixer {
  std::int64_t heads = 0;
  std::int64_t head_dim = 1;
  std::int64_t groups = 1;
  std::int64_t state = 0;      ///< State rows per head; 0 in a short convolution.
  std::int64_t kernel = 4;     ///< Tokens that the causal convolution spans.
  std::int64_t chunk = 64;     ///< Tokens of one chunk of the scan.
  std::int64_t step_rank = 0;  ///< Rank of Mamba's projection to step sizes; 0: another mixer.
  bool convolution_bias = false;
  bool bias = false;  ///< Biases of the mixer's input and output projections.
  /// True if the mixer norms its gated result: over each head (delta net), over groups of heads
  /// (Mamba-2).
  bool normed = false;
  bool selection_normed = false;  ///< Mamba has norms of step sizes, B and C (Jamba).
  auto operator<=>(const StateMixer&) const = default;

  /// Groups of keys and queries that tensor ranks must share evenly, as they share `heads`; 0 if
  /// the mixer projects neither by head (Mamba, short convolutions).
  [[nodiscard]] std::int64_t evenly_shared_groups() const {
    return state > 0 && step_rank == 0 ? groups : 0;
  }
};

/// How far the gradient of the loss goes back through a layer, given which weights are frozen.
enum class GradientPath : std::uint8_t {
  kThrough,  ///< The layer passes the gradient on to the layer below.
  /// The layer trains its own weights and passes no gradient on: nothing below it is trained.
  kEnds,
  kAbove,  ///< No gradient reaches the layer: it has no backward.
};

/// Everything that distinguishes the layers of a model from each other: the mixer, the feed-forward
/// and their options. Layers with equal values are of one class; a model has few classes.
struct LayerClass {
  Mixer mixer = Mixer::kAttention;
  /// A second mixer that reads the same rows; the two results are added (Falcon-H1).
  Mixer beside = Mixer::kNone;
  FeedForward feed_forward = FeedForward::kDense;
  /// Tokens back that attention sees, the token itself included; 0: all tokens.
  std::int64_t window = 0;
  /// `window` cuts the sequence into chunks; a token sees only its own chunk.
  bool chunked = false;
  bool rotated = true;         ///< False: this layer does not apply the model's rotary positions.
  std::int64_t ffn = 0;        ///< Width of this layer's dense MLP; 0: the model's `ffn`.
  bool bidirectional = false;  ///< Every token sees all others, as in an encoder.
  /// `frozen` and `gradients` follow from what the model freezes; `Architecture::pattern` never
  /// sets them.
  bool frozen = false;  ///< No weight of the layer is trained, and it has no adapters.
  GradientPath gradients = GradientPath::kThrough;
  /// Position of the norms in this layer; nullopt: as in the model.
  std::optional<NormPlacement> norms = {};
  auto operator<=>(const LayerClass&) const = default;

  [[nodiscard]] bool has_experts() const { return feed_forward == FeedForward::kExperts; }
  [[nodiscard]] bool attends() const { return mixer == Mixer::kAttention; }
  [[nodiscard]] bool has_mixer(Mixer kind) const {
    return mixer == kind || (kind != Mixer::kNone && beside == kind);
  }
  /// Returns the mixer of the layer that carries a state; `kNone`: the layer has none.
  [[nodiscard]] Mixer carrier() const { return attends() ? beside : mixer; }
};

/// A decoder-only model: everything that decides its parameters, operators and messages. Sizes are
/// element counts. `built_in_model`, `read_config` and `read_inline_model` build models and `check`
/// them.
struct Architecture {
  std::string name = {};
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  ///< Width of a query or key head; with `latent`, nope + rope.
  /// Intermediate width of the dense MLP; 0 only if no layer has a dense MLP.
  std::int64_t ffn = 0;
  std::int64_t vocabulary = 0;
  std::int64_t positions =
      /// Longest sequence that the model states (rows of a learned table); 0: not stated.
      0;
  bool gated = true;  ///< MLP with a gate (SwiGLU, GeGLU): three matrices instead of two.
  Activation activation = Activation::kSilu;
  Norm norm = Norm::kRms;
  bool norm_bias = false;         ///< LayerNorm has a bias vector in addition to its weight.
  bool norm_weight = true;        ///< False if norms have no weights (OLMo).
  bool norm_unit_offset = false;  ///< Norms multiply by 1 + weight (Gemma).
  NormPlacement norm_placement = NormPlacement::kBefore;
  double norm_epsilon = 1e-5;  ///< Number added to the variance (or mean square) in every norm.
  /// Epsilon of the norms of latent rows and of the gated norms of delta nets; 0: `norm_epsilon`.
  double inner_norm_epsilon = 0;
  PositionEncoding position = PositionEncoding::kRope;
  /// Row of the position table, or position of the sinusoids, that the first token gets: 2 in OPT
  /// and XGLM.
  std::int64_t first_position = 0;
  double rotary_fraction = 1.0;  ///< Share of the head dimension that rotary positions rotate.
  double rotary_base = 10000;    ///< Base of the wavelengths of rotary or sinusoidal positions.
  std::optional<RotaryScaling> rotary_scaling = {};
  /// Rotary base of layers with a window, whose frequencies are not scaled if it is set (Gemma-3);
  /// 0: `rotary_base`, scaled as in the other layers.
  double window_rotary_base = 0;
  bool qkv_bias = false;
  bool attention_output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;  ///< The language-model head has a bias.
  QkNorm qk_norm = QkNorm::kNone;
  bool qk_norm_bias = false;  ///< The norms of queries and keys have biases.
  /// The attention result is multiplied by a sigmoid of its own projection.
  bool attention_gate = false;
  bool gate_bias = false;  ///< The gates of attention have a bias per head (Beam).
  bool sinks = false;      ///< A trained logit per head in every softmax (gpt-oss).
  /// Factor on the attention scores; 0: one over the root of `head_dim`.
  double attention_scale = 0;
  /// Attention scores are bounded by a hyperbolic tangent at this value; 0: no bound.
  double attention_cap = 0;
  /// The head's logits are bounded by a hyperbolic tangent at this value; 0: no bound.
  double logit_cap = 0;
  double logit_scale = 1;      ///< Factor on the language-model head's logits.
  double embedding_scale = 1;  ///< Factor on the embedded tokens.
  /// Factor on the result of a branch before it is added to the residual stream.
  double residual_scale = 1;
  bool embedding_norm = false;     ///< A norm directly after the embedding (BLOOM).
  bool parallel_residual = false;  ///< Attention and MLP read the same input (GPT-NeoX).
  bool shared_input_norm =
      /// With `parallel_residual`: one norm feeds both branches (GPT-J, Falcon).
      false;
  bool tied = false;  ///< Embedding and head share one table.
  /// Rate of hidden and attention dropout in training; above 0, a step keeps the masks.
  double dropout = 0.0;
  std::optional<LatentAttention> latent = {};
  std::optional<Experts> experts = {};
  /// Encoder of images; the decoder's parameter and FLOP counts leave it out.
  std::optional<Encoder> encoder = {};
  std::optional<StateMixer> state_mixer = {};  ///< Sizes of the mixer of layers that carry a state.
  /// Class of each layer. Empty: all layers attend, and have experts if the model has `experts`.
  std::vector<LayerClass> pattern = {};
  /// Number of multi-token-prediction layers in the model's weights.
  std::int64_t multi_token_layers = 0;
  /// True if the multi-token layers are part of the step and of the counts.
  bool count_multi_token = false;
  /// Weight of the mean loss of the multi-token layers in the total loss (Megatron-LM,
  /// `--mtp-loss-scaling-factor`).
  double multi_token_weight = 0.1;
  /// Adapters of the model, whose own weights are frozen then. The job sets them, as it sets
  /// `frozen`.
  std::optional<Adapters> adapters = {};
  Frozen frozen = {};
  /// Names a computation that the fields above cannot express and that needs neither parameters nor
  /// matrix products: clipped queries (DBRX), a temperature by position (Llama 4). Parameter counts
  /// and plans stay right; no operator here computes it. Empty: none.
  std::string beyond = {};

  /// Returns how many tokens beyond the next one a step learns to predict.
  [[nodiscard]] std::int64_t predicted_ahead() const {
    return count_multi_token ? multi_token_layers : 0;
  }

  /// Returns the class that every layer has if `pattern` is empty.
  [[nodiscard]] LayerClass default_layer_class() const;
  /// Returns the width of the dense MLP of such a layer.
  [[nodiscard]] std::int64_t dense_width(const LayerClass& layer) const {
    return layer.ffn > 0 ? layer.ffn : ffn;
  }
  /// Returns the class of layer `layer` (0-based) as the model describes it, without regard to
  /// frozen weights. Multi-token layers are numbered after the others and have the class of the
  /// last one.
  [[nodiscard]] LayerClass described_layer(std::int64_t layer) const;
  /// Returns the class of layer `layer` (0-based) with `frozen` and `gradients` set.
  [[nodiscard]] LayerClass layer_class(std::int64_t layer) const;
  /// True if a step corrects the router biases of such layers by the loads of their experts. A
  /// frozen layer is not corrected; a model with adapters neither, since an adapter's files cannot
  /// hold changes of the base weights.
  [[nodiscard]] bool corrects_routers(const LayerClass& layer) const {
    const bool corrects = experts && experts->correction_bias && layer.has_experts();
    return corrects && !adapters && !layer.frozen;
  }
  /// True if some weights are frozen.
  [[nodiscard]] bool freezes() const { return adapters.has_value() || frozen.any(); }
  /// True if a step encodes images before the first layer.
  [[nodiscard]] bool sees_images() const { return encoder && encoder->takes_part(); }
  /// True if a weight that is used before the first layer (embedding, encoder or projector) is
  /// trained.
  [[nodiscard]] bool trains_below() const;
  /// Returns how many layers each class has; multi-token layers are not counted.
  [[nodiscard]] std::map<LayerClass, std::int64_t> layer_classes() const;
  /// Returns the width of the values of one head: `head_dim` unless `latent` is set.
  [[nodiscard]] std::int64_t value_dim() const {
    return latent ? latent->value_head_dim : head_dim;
  }
  /// True if layers of this class have a norm before each branch.
  [[nodiscard]] bool norms_inputs(const LayerClass& layer) const {
    return layer.norms.value_or(norm_placement) != NormPlacement::kAfter;
  }
  [[nodiscard]] bool norms_results(const LayerClass& layer) const {
    return layer.norms.value_or(norm_placement) != NormPlacement::kBefore;
  }
  /// Returns the width of the rows that routed experts work on.
  [[nodiscard]] std::int64_t routed_width() const {
    return experts && experts->latent > 0 ? experts->latent : hidden;
  }
  /// Returns the longest sequence that a learned position table has rows for.
  [[nodiscard]] std::int64_t longest() const { return positions - first_position; }
  /// Returns the number of element pairs of a head that rotary positions turn; with latent
  /// attention, of the head's rope part.
  [[nodiscard]] std::int64_t rotary_pairs() const;
  /// True if layers with experts also have shared experts, which every token goes through.
  [[nodiscard]] bool has_shared_experts() const { return experts && experts->shared_ffn > 0; }
  /// True if an indexer chooses the keys that a token attends to.
  [[nodiscard]] bool has_indexer() const { return latent && latent->index_heads > 0; }
  bool operator==(const Architecture&) const = default;
};

/// Largest value of any size except the number of layers.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
/// Largest number of layers of a model.
inline constexpr std::int64_t kLargestLayers = std::int64_t{1} << 12;

/// Returns `model` with the choices that a job makes beside its model (dropout, multi-token layers,
/// adapters and frozen parts) copied from `other`.
Architecture with_training_parts_of(Architecture model, const Architecture& other);

/// Throws `Error{kInput}` with the field, its value and the rule if sizes are absurd or contradict
/// each other (zero, beyond `kLargestSize`, heads not a multiple of kv_heads, top_k above count,
/// 2^62 parameters, ...). The counts of a model that passes do not overflow. `where` (a file or
/// "model") starts the message.
void check(const Architecture& model, const std::string& where);

}  // namespace stepwright::model
