#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/utf8.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/inline_fields.h"
#include "stepwright/model/unknown_model.h"

// The inline model, as docs/formats.md describes it. Sizes are 1 to 2^40, layers 1 to 65536.
//
//   key                 default              meaning
//   name                custom               what reports call it; with base: BASE-custom
//   base                none                 a built-in model: keys not named keep its values
//   layers              required
//   hidden              required             width of the residual stream
//   heads               required
//   vocab               required             rows of the embedding table, not padded
//   kv_heads            heads                a divisor of heads
//   head_dim            hidden / heads       of queries, keys and values; with latent the sum
//                                            of nope_head_dim and rope_head_dim
//   norm                rmsnorm              rmsnorm | layernorm
//   norm_bias           with layernorm       a bias vector beside each norm's weight
//   gated               with rmsnorm         three matrices in the MLP (SwiGLU), not two
//   norm_epsilon        1e-5                 added to the variance in every norm
//   activation          silu; else gelu      silu | gelu | gelu_tanh | relu | relu2; silu if gated
//   ffn                 required             width of the dense MLP; 4 * hidden if not gated;
//                                            not required where every layer has experts
//   position            rope                 rope | learned | alibi | none
//   positions           none                 longest sequence; required with learned
//   rotary_fraction     1                    rotated share of a head, above 0
//   rotary_base         10000                of the series of rotary wavelengths
//   rotary_scaling      none                 a mapping, below
//   bias                false                each linear layer of a block has one; or singly:
//                                            qkv_bias, attention_output_bias, mlp_bias
//   head_bias           false                a bias of the language-model head
//   qk_norm             false                RMSNorm over the heads of queries and of keys
//   embedding_norm      false                a norm right after the embedding
//   parallel_residual   false                attention and MLP read the same input
//   shared_input_norm   false                with parallel_residual: through one norm
//   tied                false                embedding and head share one table
//   dropout             0                    at least 0, below 1
//   window              none                 sliding attention window in tokens, or a list
//                                            with one entry per layer, 0 for full attention
//   windowed_layers     all                  all, or a list of the layers with the window
//   latent              none                 a mapping, below
//   experts             none                 a mapping, below
//   multi_token_layers  0                    multi-token-prediction layers of the model
//   count_multi_token   false                whether they are trained and counted
//
//   of rotary_scaling   default              meaning
//   kind                required             linear | llama3 | dynamic | yarn | longrope | other
//   factor              1                    by which frequencies are divided
//   low_frequency       1                    of llama3: turns in original_positions below which
//                                            a frequency is divided
//   high_frequency      4                    and above which it is kept
//   original_positions  8192                 of llama3: length of the first training
//
//   of latent           default              meaning
//   query_rank          0                    0: queries are projected directly
//   kv_rank             512                  of the joint projection of keys and values
//   nope_head_dim       128                  part of a head that is not rotated
//   rope_head_dim       64                   part of a head that is
//   value_head_dim      128
//
//   of experts          default              meaning
//   count               required             routed experts of a layer
//   top_k               required             of them per token
//   ffn                 required             width of one
//   shared_ffn          0                    total width of the shared experts
//   shared_gate         false                their output is gated
//   correction_bias     false                a bias per expert that is not trained
//   normalize_top_k     true                 the weights of a token's top k add up to 1
//   leading_dense       0                    so many first layers have an ordinary MLP
//   every               1                    of n: experts only in layers n - 1, 2n - 1, ...
//   dense_layers        []                   further layers with an ordinary MLP
//
// Layers are counted from 0. A key that is null counts as absent, also in the base. A file of its
// own may open with `stepwright: model/1`.

namespace stepwright {
namespace {

void check_keys(Node node) {
  node.allow_only({"name",
                   "base",
                   "layers",
                   "hidden",
                   "heads",
                   "vocab",
                   "kv_heads",
                   "head_dim",
                   "norm",
                   "norm_bias",
                   "norm_epsilon",
                   "gated",
                   "activation",
                   "ffn",
                   "position",
                   "positions",
                   "rotary_fraction",
                   "rotary_base",
                   "rotary_scaling",
                   "bias",
                   "qkv_bias",
                   "attention_output_bias",
                   "mlp_bias",
                   "head_bias",
                   "qk_norm",
                   "embedding_norm",
                   "parallel_residual",
                   "shared_input_norm",
                   "tied",
                   "dropout",
                   "window",
                   "windowed_layers",
                   "latent",
                   "experts",
                   "multi_token_layers",
                   "count_multi_token",
                   "stepwright"});
}

void check_version(Node node) {
  const auto version = node.find("stepwright");
  if (!version) return;
  if (version->text() == "model/1") return;
  version->fail(fmt::format("must be model/1; it is '{}'", printable(version->text())));
}

/// The base as a document of the same keys; nothing without a base.
std::optional<Document> read_base(Node node) {
  const auto key = node.find("base");
  if (!key || key->is_null()) return std::nullopt;
  const std::string name = key->text();
  const auto model = built_in_model(name);
  if (!model) key->fail(unknown_model(name));
  return Document::parse(inline_model(*model).dump(), fmt::format("built-in model {}", name));
}

std::string name_of(const InlineFields& fields) {
  if (const auto name = fields.own().find("name"); name && !name->is_null()) return name->text();
  const auto base = fields.own().find("base");
  return base && !base->is_null() ? base->text() + "-custom" : "custom";
}

void read_sizes(const InlineFields& fields, Architecture& model) {
  model.layers = fields.size("layers", kLargestLayers);
  model.hidden = fields.size("hidden");
  model.heads = fields.size("heads");
  model.kv_heads = fields.size_or("kv_heads", model.heads);
  model.vocabulary = fields.size("vocab");
  model.positions = fields.size_or("positions", 0, 0);
}

void read_blocks(const InlineFields& fields, Architecture& model) {
  model.norm = fields.choice("norm", kNormNames, Norm::kRms);
  model.norm_bias = fields.flag("norm_bias", model.norm == Norm::kLayer);
  model.norm_epsilon = fields.number_or("norm_epsilon", model.norm_epsilon, 0, 1);
  model.gated = fields.flag("gated", model.norm == Norm::kRms);
  model.activation = fields.choice("activation", kActivationNames,
                                   model.gated ? Activation::kSilu : Activation::kGelu);
  model.position = fields.choice("position", kPositionNames, Position::kRope);
  model.rotary_fraction = fields.number_or("rotary_fraction", 1, 0, 1);
  model.rotary_base = fields.number_or("rotary_base", model.rotary_base, 0, kLargestSize);
  model.qkv_bias = fields.flag_among("qkv_bias", "bias");
  model.attention_output_bias = fields.flag_among("attention_output_bias", "bias");
  model.mlp_bias = fields.flag_among("mlp_bias", "bias");
  model.head_bias = fields.flag("head_bias");
  model.qk_norm = fields.flag("qk_norm");
  model.embedding_norm = fields.flag("embedding_norm");
  model.parallel_residual = fields.flag("parallel_residual");
  model.shared_input_norm = fields.flag("shared_input_norm");
  model.tied = fields.flag("tied");
  model.dropout = fields.number_or("dropout", 0, 0, 1);
  model.multi_token_layers = fields.size_or("multi_token_layers", 0, 0);
  model.count_multi_token = fields.flag("count_multi_token");
}

void read_rotary_scaling(const InlineFields& fields, Architecture& model) {
  const auto nested = fields.nested("rotary_scaling");
  if (!nested) return;
  nested->own().allow_only(
      {"kind", "factor", "low_frequency", "high_frequency", "original_positions"});
  RotaryScaling scaling;
  if (!nested->value("kind")) nested->own().fail("the key 'kind' is missing");
  scaling.kind = nested->choice("kind", kRotaryScalingNames, scaling.kind);
  scaling.factor = nested->number_or("factor", scaling.factor, 0, kLargestSize);
  if (scaling.kind == RotaryScalingKind::kLlama3) {
    scaling.low_frequency =
        nested->number_or("low_frequency", scaling.low_frequency, 0, kLargestSize);
    scaling.high_frequency =
        nested->number_or("high_frequency", scaling.high_frequency, 0, kLargestSize);
    scaling.original_positions = nested->size_or("original_positions", scaling.original_positions);
  }
  model.rotary_scaling = scaling;
}

void read_latent(const InlineFields& fields, Architecture& model) {
  const auto nested = fields.nested("latent");
  if (!nested) return;
  nested->own().allow_only(
      {"query_rank", "kv_rank", "nope_head_dim", "rope_head_dim", "value_head_dim"});
  LatentAttention latent;
  latent.query_rank = nested->size_or("query_rank", latent.query_rank, 0);
  latent.kv_rank = nested->size_or("kv_rank", latent.kv_rank);
  latent.nope_head_dim = nested->size_or("nope_head_dim", latent.nope_head_dim);
  latent.rope_head_dim = nested->size_or("rope_head_dim", latent.rope_head_dim);
  latent.value_head_dim = nested->size_or("value_head_dim", latent.value_head_dim);
  model.latent = latent;
}

std::int64_t head_dim(const InlineFields& fields, const Architecture& model) {
  if (const auto given = fields.value("head_dim")) return given->integer(1, kLargestSize);
  if (model.latent) return model.latent->nope_head_dim + model.latent->rope_head_dim;
  if (model.hidden % model.heads != 0) {
    fields.own().fail(
        fmt::format("hidden ({}) is not a multiple of heads ({}), and there is no head_dim",
                    model.hidden, model.heads));
  }
  return model.hidden / model.heads;
}

/// Sets the marks of the layers that a list names.
template <class Mark>
void mark(Node list, std::vector<Mark>& marks, Mark value) {
  if (!list.is_sequence()) list.fail("must be a list of layers, counted from 0");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto last = static_cast<std::int64_t>(marks.size()) - 1;
    marks[static_cast<std::size_t>(list.at(i).integer(0, last))] = value;
  }
}

void read_experts(const InlineFields& fields, Architecture& model) {
  const auto nested = fields.nested("experts");
  if (!nested) return;
  nested->own().allow_only({"count", "top_k", "ffn", "shared_ffn", "shared_gate", "correction_bias",
                            "normalize_top_k", "leading_dense", "every", "dense_layers"});
  Experts experts;
  experts.count = nested->size("count");
  experts.top_k = nested->size("top_k");
  experts.ffn = nested->size("ffn");
  experts.shared_ffn = nested->size_or("shared_ffn", 0, 0);
  experts.shared_gate = nested->flag("shared_gate");
  experts.correction_bias = nested->flag("correction_bias");
  experts.normalize_top_k = nested->flag("normalize_top_k", true);
  const std::int64_t leading = nested->size_or("leading_dense", 0, 0);
  const std::int64_t every = nested->size_or("every", 1);
  std::vector<std::uint8_t> dense(static_cast<std::size_t>(model.layers), 0);
  bool any = false;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const bool is_dense = layer < leading || (layer + 1) % every != 0;
    dense[static_cast<std::size_t>(layer)] = is_dense ? 1 : 0;
    any = any || is_dense;
  }
  if (const auto list = nested->value("dense_layers")) {
    mark(*list, dense, std::uint8_t{1});
    any = any || list->size() > 0;
  }
  if (any) experts.is_dense = std::move(dense);
  model.experts = std::move(experts);
}

std::int64_t ffn(const InlineFields& fields, const Architecture& model) {
  const bool every_layer_has_experts = model.experts && model.experts->is_dense.empty();
  if (every_layer_has_experts) return fields.size_or("ffn", 0, 0);
  if (model.gated) return fields.size("ffn", kLargestSize, " (4 * hidden only without a gate)");
  return fields.size_or("ffn", 4 * model.hidden);
}

std::vector<std::int64_t> windows(const InlineFields& fields, std::int64_t layers) {
  const auto window = fields.value("window");
  const auto which = fields.value("windowed_layers");
  if (!window && which) which->fail("is given without a window");
  if (!window) return {};
  std::vector<std::int64_t> result(static_cast<std::size_t>(layers), 0);
  if (window->is_sequence()) {
    if (which) which->fail("is given beside a list of windows");
    if (window->size() != result.size()) {
      window->fail(
          fmt::format("has {} entries; one per layer ({}) is wanted", window->size(), layers));
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = window->at(i).integer(0, kLargestSize);
    }
    return result;
  }
  const std::int64_t size = window->integer(1, kLargestSize);
  if (which && which->is_scalar() && which->text() != "all") {
    which->fail("must be all or a list of layers, counted from 0");
  }
  if (!which || which->is_scalar()) {
    result.assign(result.size(), size);
  } else {
    mark(*which, result, size);
  }
  return result;
}

}  // namespace

Architecture read_inline_model(Node node) {
  check_keys(node);
  check_version(node);
  const auto base = read_base(node);
  const InlineFields fields(node, base ? std::optional(base->root()) : std::nullopt);
  Architecture model;
  model.name = name_of(fields);
  read_sizes(fields, model);
  read_blocks(fields, model);
  read_rotary_scaling(fields, model);
  read_latent(fields, model);
  model.head_dim = head_dim(fields, model);
  read_experts(fields, model);
  model.ffn = ffn(fields, model);
  model.windows = windows(fields, model.layers);
  check(model, node.where());
  return model;
}

}  // namespace stepwright
