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
/// Position of the norms around attention and MLP: before them (GPT-2), on their result before it
/// is added to the residual stream (OLMo-2), or both (Gemma-2).
enum class NormPlacement : std::uint8_t { kBefore, kAfter, kBoth };
/// Norms of queries and keys. kNone: none; kHead: each head, one weight of `head_dim` for all heads
/// (Qwen3); kEachHead: each head with its own weight (Cohere, StableLM); kWhole: all heads together
/// (OLMo-2); kPlain: each head without weights (Llama 4).
enum class QkNorm : std::uint8_t { kNone, kHead, kEachHead, kWhole, kPlain };
/// Part of a layer that combines tokens: attention, a recurrent mixer (delta net, Mamba) or a
/// convolution. kNone: the layer has only a feed-forward.
enum class TokenMixer : std::uint8_t {
  kAttention,
  kDeltaNet,
  kMamba2,
  kMamba,
  kShortConvolution,
  kNone
};
enum class FeedForward : std::uint8_t { kDense, kExperts, kNone };
/// How the model encodes token positions. kSinusoidal: fixed sines and cosines are added to the
/// embedded tokens.
enum class PositionEncoding : std::uint8_t { kRope, kLearned, kAlibi, kNone, kSinusoidal };
/// Activation function of an MLP. kGelu: x times the normal distribution function; kGeluTanh: its
/// approximation by a hyperbolic tangent (GPT-2); kQuickGelu: x sigmoid(1.702 x); kClampedSwiglu:
/// clamps gates and inputs, then multiplies kQuickGelu of the gates by inputs + 1 (gpt-oss);
/// kXielu: has two trained numbers (Apertus).
enum class ActivationFunction : std::uint8_t {
  kSilu,
  kGelu,
  kRelu,
  kSquaredRelu,
  kGeluTanh,
  kQuickGelu,
  kClampedSwiglu,
  kXielu
};
/// Function that turns a router's logits into weights of the chosen experts.
enum class RouterScoring : std::uint8_t { kSoftmax, kSigmoid };
/// Methods that change rotary frequencies so that a model can read longer sequences than in its
/// first training.
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
inline constexpr Named<TokenMixer> kMixerNames[] = {
    {TokenMixer::kAttention, "attention"},
    {TokenMixer::kDeltaNet, "delta_net"},
    {TokenMixer::kMamba2, "mamba2"},
    {TokenMixer::kMamba, "mamba"},
    {TokenMixer::kShortConvolution, "short_convolution"},
    {TokenMixer::kNone, "none"}};
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
inline constexpr Named<ActivationFunction> kActivationNames[] = {
    {ActivationFunction::kSilu, "silu"},
    {ActivationFunction::kGelu, "gelu"},
    {ActivationFunction::kRelu, "relu"},
    {ActivationFunction::kSquaredRelu, "relu2"},
    {ActivationFunction::kGeluTanh, "gelu_tanh"},
    {ActivationFunction::kQuickGelu, "gelu_quick"},
    {ActivationFunction::kClampedSwiglu, "clamped_swiglu"},
    {ActivationFunction::kXielu, "xielu"}};
inline constexpr Named<RotaryScalingKind> kRotaryScalingNames[] = {
    {RotaryScalingKind::kLinear, "linear"},     {RotaryScalingKind::kLlama3, "llama3"},
    {RotaryScalingKind::kDynamic, "dynamic"},   {RotaryScalingKind::kYarn, "yarn"},
    {RotaryScalingKind::kLongRope, "longrope"}, {RotaryScalingKind::kOther, "other"}};

/// How rotary frequencies change for longer sequences. linear: all are divided by `factor`. llama3:
/// those that rotate fewer than `low_frequency` times in `original_positions` tokens are divided,
/// those above `high_frequency` times kept, others interpolated between. yarn: as llama3, but
/// interpolated by index (arXiv 2309.00071). longrope: each has its own divisor (arXiv 2402.13753).
/// dynamic: the rotary base grows. other: only the name is known.
struct RotaryScaling {
  RotaryScalingKind kind = RotaryScalingKind::kLinear;
  double factor = 1;
  double low_frequency = 1;
  double high_frequency = 4;
  std::int64_t original_positions = 8192;
  /// Factor on the sines and cosines of rotary positions (yarn, longrope); 0: derived from other
  /// numbers of the scaling.
  double attention_factor = 0;
  /// True if yarn rounds the ends of the range of rotary indices that it interpolates to whole
  /// numbers.
  bool rounded = true;
  /// Weight of log(`factor`) in the numerator of the derived `attention_factor` (yarn).
  double mscale = 1;
  /// Weight of log(`factor`) in the denominator of the derived `attention_factor` (yarn), and in a
  /// scale of latent attention's scores (DeepSeek-V2, -V3); 0: no such scale.
  double mscale_all_dim = 0;
  /// Divisors of the rotary frequencies, one per rotated pair, for sequences up to
  /// `original_positions` (longrope).
  std::vector<double> short_factors = {};
  /// Divisors of the rotary frequencies, one per rotated pair, for sequences above
  /// `original_positions` (longrope).
  std::vector<double> long_factors = {};
  bool operator==(const RotaryScaling&) const = default;
};

/// Returns a rotary scaling of this kind with its usual default numbers.
RotaryScaling usual_rotary_scaling(RotaryScalingKind kind);

/// Sizes of multi-head latent attention (DeepSeek-V2, -V3), which computes queries, keys and values
/// by low-rank projections. Query and key heads have `nope_head_dim + rope_head_dim` elements,
/// value heads `value_head_dim`.
struct LatentAttention {
  /// Rank of the low-rank query projection; 0: queries come from one full projection.
  std::int64_t query_rank = 0;
  std::int64_t kv_rank = 512;
  std::int64_t nope_head_dim = 128;
  std::int64_t rope_head_dim = 64;
  std::int64_t value_head_dim = 128;
  /// Heads of the sparse-attention indexer (DeepSeek-V3.2), whose queries of `index_head_dim`
  /// elements score all keys, so that each token attends to its best `index_top_k` keys. 0: no
  /// indexer, full causal attention.
  std::int64_t index_heads = 0;
  std::int64_t index_head_dim = 128;
  std::int64_t index_top_k = 2048;
  auto operator<=>(const LatentAttention&) const = default;
};

/// Sizes and routing of a mixture of experts, which replaces the MLP in some layers.
struct MixtureOfExperts {
  std::int64_t count = 0;  ///< Number of routed experts in a layer.
  std::int64_t top_k = 0;  ///< Number of routed experts to which each token is sent.
  std::int64_t ffn = 0;    ///< Intermediate width of one routed expert.
  /// Sum of the shared experts' intermediate widths; 0: there are no shared experts.
  std::int64_t shared_ffn = 0;
  /// Width to which rows are projected before the routed experts and from which they are projected
  /// back (Nemotron 3); 0: experts work on the model's hidden width.
  std::int64_t latent = 0;
  /// True if the shared expert's output is multiplied by a gate (Qwen2-MoE).
  bool shared_gate = false;
  /// True if the router has a bias per expert that balances loads and that gradients do not train
  /// (DeepSeek-V3).
  bool correction_bias = false;
  /// True if the weights of a token's chosen experts are normalised to a sum of 1.
  bool normalize_top_k = true;
  bool bias = false;         ///< True if routed experts have biases (gpt-oss).
  bool router_bias = false;  ///< True if the router has a trained bias on its logits (gpt-oss).
  RouterScoring scoring = RouterScoring::kSoftmax;
  /// Number of groups of experts; a token first chooses `top_groups` of them, then experts inside.
  std::int64_t groups = 1;
  std::int64_t top_groups = 1;  ///< Number of expert groups that a token chooses.
  double scale = 1;             ///< Factor on the weighted sum of the routed experts' results.
  bool operator==(const MixtureOfExperts&) const = default;
};

/// Sizes of a recurrent mixer: a short causal convolution, then a state carried along the sequence
/// (delta net, Mamba-2, Mamba), or the convolution alone (`kShortConvolution`). The state of a head
/// is [state, head_dim]. Keys and queries (Mamba's B and C) have `groups` heads of `state`
/// elements, values `heads` of `head_dim`. Mamba's first version: `heads` channels of one element,
/// one group.
struct RecurrentMixer {
  std::int64_t heads = 0;
  std::int64_t head_dim = 1;
  std::int64_t groups = 1;
  /// Rows of each head's recurrent state; 0: the mixer is a convolution alone.
  std::int64_t state = 0;
  std::int64_t kernel = 4;  ///< Tokens that the short causal convolution spans.
  /// Tokens in each chunk in which the recurrence is computed (chunked scan).
  std::int64_t chunk = 64;
  /// Rank of the projection to step sizes in Mamba's first version; 0: another mixer.
  std::int64_t step_rank = 0;
  bool convolution_bias = false;
  bool bias = false;  ///< True if the mixer's input and output projections have biases.
  /// True if the mixer's gated result is normed: each head (delta net) or each group of heads
  /// (Mamba-2).
  bool normed = false;
  bool selection_normed = false;  ///< True if Mamba norms its step sizes, B and C (Jamba).
  auto operator<=>(const RecurrentMixer&) const = default;

  /// Returns the number of key and query heads of a recurrent mixer, which tensor parallelism must
  /// split evenly; 0 if there are none (Mamba's first version, short convolutions).
  [[nodiscard]] std::int64_t mixer_heads_to_split_evenly() const {
    return state > 0 && step_rank == 0 ? groups : 0;
  }
};

/// How a layer takes part in the backward, given which weights of the model are frozen.
enum class LayerGradientFlow : std::uint8_t {
  kThrough,  ///< The gradient passes through the layer to the layer below.
  /// The backward ends here: the layer trains its own weights and computes no input gradient, as
  /// nothing below is trained.
  kEnds,
  kAbove,  ///< No backward: neither this layer nor one below is trained.
};

/// Properties in which layers of one model can differ: mixer, feed-forward, window, ... Layers with
/// equal values form a class; a model has few different classes.
struct LayerClass {
  TokenMixer mixer = TokenMixer::kAttention;
  /// Second mixer of the layer, which reads the same input; both results are added (Falcon-H1).
  /// kNone: there is none.
  TokenMixer beside = TokenMixer::kNone;
  FeedForward feed_forward = FeedForward::kDense;
  /// Attention window in tokens, the token itself included; 0: full attention.
  std::int64_t window = 0;
  /// True if `window` cuts the sequence into fixed chunks and a token attends only to its own
  /// chunk.
  bool chunked = false;
  bool rotated = true;         ///< True if this layer applies the model's rotary positions.
  std::int64_t ffn = 0;        ///< Width of this layer's dense MLP; 0: the model's `ffn`.
  bool bidirectional = false;  ///< True if every token attends to all others, as in an encoder.
  /// True if no weight of the layer is trained and it has no adapters. Derived, like `gradients`,
  /// from what a job freezes; never set in `ModelArchitecture::pattern`.
  bool frozen = false;
  LayerGradientFlow gradients = LayerGradientFlow::kThrough;
  /// Position of the norms in this layer; nullopt: the model's `norm_placement`.
  std::optional<NormPlacement> norms = {};
  auto operator<=>(const LayerClass&) const = default;

  [[nodiscard]] bool has_experts() const { return feed_forward == FeedForward::kExperts; }
  [[nodiscard]] bool attends() const { return mixer == TokenMixer::kAttention; }
  [[nodiscard]] bool has_mixer(TokenMixer kind) const {
    return mixer == kind || (kind != TokenMixer::kNone && beside == kind);
  }
  /// Returns the layer's recurrent mixer (delta net, Mamba) or convolution; kNone: it has none.
  [[nodiscard]] TokenMixer recurrent_mixer_kind() const { return attends() ? beside : mixer; }
};

/// A decoder-only model: everything that determines its parameters, operators and messages. Sizes
/// count elements. Built by `built_in_model`, `read_huggingface_config` or `read_inline_model`,
/// which also validate it.
struct ModelArchitecture {
  std::string name = {};
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  /// Elements of a query or key head; with latent attention, nope + rope elements.
  std::int64_t head_dim = 0;
  /// Intermediate width of a dense MLP; 0 only if no layer has one.
  std::int64_t ffn = 0;
  std::int64_t vocabulary = 0;
  /// Longest sequence in tokens that the model states (with learned positions: number of rows of
  /// the position table); 0: not stated.
  std::int64_t positions = 0;
  /// True if the MLP has a gate (SwiGLU, GeGLU): three matrices instead of two.
  bool gated = true;
  ActivationFunction activation = ActivationFunction::kSilu;
  Norm norm = Norm::kRms;
  bool norm_bias = false;         ///< True if LayerNorms have a bias vector beside their weight.
  bool norm_weight = true;        ///< False if norms have no weights (OLMo).
  bool norm_unit_offset = false;  ///< True if norms multiply by 1 + weight (Gemma).
  NormPlacement norm_placement = NormPlacement::kBefore;
  double norm_epsilon = 1e-5;  ///< Epsilon of every norm, added to the variance or mean square.
  /// Epsilon of the norms inside latent attention and of the gated norms of delta nets; 0:
  /// `norm_epsilon`.
  double inner_norm_epsilon = 0;
  PositionEncoding position = PositionEncoding::kRope;
  /// Position number of a sequence's first token in the position table or the sinusoids (2 in OPT
  /// and XGLM).
  std::int64_t first_position = 0;
  /// Share of the head dimension, from 0 to 1, to which rotary positions are applied.
  double rotary_fraction = 1.0;
  double rotary_base = 10000;  ///< Base (theta) of rotary or sinusoidal positions.
  std::optional<RotaryScaling> rotary_scaling = {};
  /// Rotary base of layers with an attention window, unscaled (Gemma-3); 0: they use `rotary_base`
  /// and its scaling, as all layers.
  double window_rotary_base = 0;
  bool qkv_bias = false;
  bool attention_output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;  ///< True if the language-model head has a bias.
  QkNorm qk_norm = QkNorm::kNone;
  bool qk_norm_bias = false;  ///< True if the norms of queries and keys have biases.
  /// True if the attention result is multiplied by a sigmoid gate with its own projection.
  bool attention_gate = false;
  bool gate_bias = false;  ///< True if attention gates have a bias per head (Beam).
  /// True if every attention softmax has one more trained logit per head, an attention sink
  /// (gpt-oss).
  bool sinks = false;
  /// Factor on attention scores; 0: 1 / sqrt(head_dim).
  double attention_scale = 0;
  /// Soft cap of attention scores, by a hyperbolic tangent; 0: no cap.
  double attention_cap = 0;
  /// Soft cap of the language-model head's logits, by a hyperbolic tangent; 0: no cap.
  double logit_cap = 0;
  double logit_scale = 1;      ///< Factor on the language-model head's logits.
  double embedding_scale = 1;  ///< Factor on the token embeddings.
  /// Factor on the result of attention or MLP before it is added to the residual stream.
  double residual_scale = 1;
  bool embedding_norm = false;  ///< True if a norm follows the embedding directly (BLOOM).
  /// True if attention and MLP read the same input, side by side (GPT-NeoX).
  bool parallel_residual = false;
  /// True if attention and MLP share one input norm (GPT-J, Falcon); only with `parallel_residual`.
  bool shared_input_norm = false;
  bool tied = false;  ///< True if the embedding and the language-model head share one table.
  /// Dropout rate of hidden states and attention in training; above 0, dropout masks are kept in
  /// memory.
  double dropout = 0.0;
  std::optional<LatentAttention> latent = {};
  std::optional<MixtureOfExperts> experts = {};
  /// Image encoder before the decoder; nullopt: none. Counts of decoder parameters and FLOPs
  /// exclude it.
  std::optional<ImageEncoder> encoder = {};
  /// Sizes of the recurrent mixer (delta net, Mamba, convolution); nullopt: none.
  std::optional<RecurrentMixer> state_mixer = {};
  /// For each layer, in order, its class: mixer, feed-forward, window and whatever else can differ
  /// between layers. Empty: all layers are equal, with attention and with experts if `experts` is
  /// set.
  std::vector<LayerClass> pattern = {};
  /// Number of multi-token-prediction layers among the model's published weights.
  std::int64_t multi_token_layers = 0;
  /// True if training steps and parameter counts include the multi-token-prediction layers.
  bool count_multi_token = false;
  /// Weight of the multi-token-prediction layers' mean loss in the total loss (Megatron-LM,
  /// `--mtp-loss-scaling-factor`).
  double multi_token_weight = 0.1;
  /// LoRA adapters, below which the model's own weights are frozen; nullopt: none. Set by the job,
  /// not by the model's file.
  std::optional<LoraAdapters> adapters = {};
  FrozenModelParts frozen = {};
  /// Name of a computation of the model that the other fields cannot express: clipped queries
  /// (DBRX), a temperature by position (Llama 4). It needs no parameters and no matrix products, so
  /// counts and plans stay right, but this program's engine does not compute it. Empty: none.
  std::string beyond = {};

  /// Returns how many tokens after the next one a training step also predicts (multi-token
  /// prediction); 0: none.
  [[nodiscard]] std::int64_t extra_predicted_tokens() const {
    return count_multi_token ? multi_token_layers : 0;
  }

  /// Returns the class (mixer, feed-forward, window, ...) of every layer of a model whose layers
  /// are all equal (`pattern` is empty).
  [[nodiscard]] LayerClass default_layer_class() const;
  /// Returns the intermediate width of a layer's dense MLP: its own `ffn` if set, else the model's.
  [[nodiscard]] std::int64_t dense_mlp_width(const LayerClass& layer) const {
    return layer.ffn > 0 ? layer.ffn : ffn;
  }
  /// Returns the class (mixer, feed-forward, window, ...) of the layer with index `layer` (from 0)
  /// as the model's file describes it, all weights trained. Multi-token-prediction layers follow
  /// the others and have the class of the last one.
  [[nodiscard]] LayerClass described_layer_class(std::int64_t layer) const;
  /// Returns the class (mixer, feed-forward, window, ...) of the layer with index `layer` (from 0),
  /// with `frozen` and `gradients` set as the job freezes weights.
  [[nodiscard]] LayerClass layer_class(std::int64_t layer) const;
  /// True if a training step adjusts the router's load-balancing biases in layers of this class
  /// (with these properties). Frozen layers and models with adapters are not adjusted, since an
  /// adapter's files cannot hold changes of base weights.
  [[nodiscard]] bool adjusts_router_biases(const LayerClass& layer) const {
    const bool corrects = experts && experts->correction_bias && layer.has_experts();
    return corrects && !adapters && !layer.frozen;
  }
  /// True if some weights of the model are not trained.
  [[nodiscard]] bool has_frozen_weights() const { return adapters.has_value() || frozen.any(); }
  /// True if training steps include the image encoder.
  [[nodiscard]] bool encodes_images() const {
    return encoder && encoder->is_encoder_in_training_step();
  }
  /// True if a weight used before the first layer (embedding, image encoder or projector) is
  /// trained, so that the backward must reach it.
  [[nodiscard]] bool trains_weights_before_layers() const;
  /// Returns the number of layers of each class (layers with equal mixer, feed-forward, window,
  /// ...), without multi-token-prediction layers.
  [[nodiscard]] std::map<LayerClass, std::int64_t> layer_counts_by_class() const;
  /// Returns the elements of one value head: `head_dim`, or `value_head_dim` of latent attention.
  [[nodiscard]] std::int64_t value_head_elements() const {
    return latent ? latent->value_head_dim : head_dim;
  }
  /// True if layers of this class (with these properties) have norms before attention and MLP.
  [[nodiscard]] bool has_norms_before_attention_and_mlp(const LayerClass& layer) const {
    return layer.norms.value_or(norm_placement) != NormPlacement::kAfter;
  }
  [[nodiscard]] bool norms_results(const LayerClass& layer) const {
    return layer.norms.value_or(norm_placement) != NormPlacement::kBefore;
  }
  /// Returns the elements of a row that routed experts read: the hidden width, or
  /// `MixtureOfExperts::latent` if set.
  [[nodiscard]] std::int64_t expert_input_width() const {
    return experts && experts->latent > 0 ? experts->latent : hidden;
  }
  /// Returns the longest sequence, in tokens, for which a learned position table has rows.
  [[nodiscard]] std::int64_t longest_learned_sequence() const { return positions - first_position; }
  /// Returns how many pairs of elements of a head rotary positions rotate; with latent attention,
  /// of the head's rope part.
  [[nodiscard]] std::int64_t rotated_pairs_per_head() const;
  /// True if layers with experts also have shared experts, which every token goes through.
  [[nodiscard]] bool has_shared_experts() const { return experts && experts->shared_ffn > 0; }
  /// True if a sparse-attention indexer chooses the keys that each token attends to
  /// (DeepSeek-V3.2).
  [[nodiscard]] bool has_sparse_attention_indexer() const {
    return latent && latent->index_heads > 0;
  }
  bool operator==(const ModelArchitecture&) const = default;
};

/// Largest allowed value of any model size (hidden, ffn, vocabulary, ...) except the number of
/// layers.
inline constexpr std::int64_t kMaxModelDimension = std::int64_t{1} << 40;
/// Largest allowed number of layers.
inline constexpr std::int64_t kMaxModelLayers = std::int64_t{1} << 12;

/// Returns `model` with the settings that a job adds to its model (dropout, multi-token layers,
/// adapters, frozen parts) copied from `other`.
ModelArchitecture copy_job_settings_to_model(ModelArchitecture model,
                                             const ModelArchitecture& other);

/// Throws `Error{kInput}` with field, value and rule if model sizes are absurd or contradict each
/// other (zero, beyond `kMaxModelDimension`, heads not a multiple of kv_heads, top_k above count,
/// 2^62 parameters, ...), so that later counts cannot overflow. `where` (a file or "model") starts
/// the message.
void check_model_sizes(const ModelArchitecture& model, const std::string& where);

}  // namespace stepwright::model
