#include "tests/runtime/reference.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "stepwright/model/parameters.h"
#include "stepwright/runtime/data/sequence_documents.h"
#include "stepwright/runtime/data/tokens.h"
#include "stepwright/runtime/kernels/dropout_mask.h"
#include "stepwright/runtime/seeded_hash.h"
#include "tests/runtime/reference_experts.h"
#include "tests/runtime/reference_mixers.h"

namespace stepwright::testing {
namespace {

using at::Tensor;

class Model {
 public:
  Model(const plan::Job& job, const Values& initial) : job_(job), m_(job.model) {
    const model::ModelArchitecture& model = m_;
    add("", model::embedding_parameters(model), initial);
    for (std::int64_t i = 0; i < model.layers; ++i) {
      add(fmt::format("layers.{}.", i), model::layer_parameters(model, model.layer_class(i)),
          initial);
    }
    for (std::int64_t i = 0; i < model.extra_predicted_tokens(); ++i) {
      add(fmt::format("layers.{}.", model.layers + i), model::multi_token_module_parameters(model),
          initial);
    }
    add("", model::head_parameters(model), initial);
  }

  /// The loss that a step minimises, and its part for the next token.
  struct Loss {
    Tensor minimised;
    Tensor next;
  };

  /// Returns the mean cross entropies of [batch, length] tokens and targets.
  Loss loss(const Tensor& tokens, const Tensor& targets,
            const runtime::DropoutGeneratorInputs& of_step) {
    draw_ = of_step;
    Tensor x = at::embedding(p("embedding.word"), tokens) * m_.embedding_scale;
    if (m_.position == model::PositionEncoding::kLearned) {
      x = x + p("embedding.position").narrow(0, 0, tokens.size(1));
    }
    if (m_.embedding_norm) x = norm(x, "embedding.norm");
    x = dropped(x, -1, runtime::BlockDropoutKind::kEmbedding);
    for (std::int64_t i = 0; i < m_.layers; ++i) x = layer(x, i);
    const Tensor next = entropy(norm(x, "norm.final"), targets);
    const Tensor all = at::cat({tokens, targets.narrow(1, targets.size(1) - 1, 1)}, 1);
    return {next + loss_ahead(x, all), next};
  }

  /// Moves the biases of routers towards experts with few rows.
  void correct() {
    for (auto& [name, loads] : loads_) p(name).add_(at::sign(loads.mean() - loads), 1e-3);
    loads_.clear();
  }

  /// Returns the mean cross entropy over the targets of all documents, each computed separately.
  Tensor loss_of_documents(const std::vector<Tensor>& documents) {
    Tensor sum = at::zeros({}, at::kDouble);
    std::int64_t targets = 0;
    for (const Tensor& tokens : documents) {
      const std::int64_t count = tokens.numel() - 1;
      if (count == 0) continue;
      const Tensor rows = tokens.unsqueeze(0);
      sum = sum + loss(rows.narrow(1, 0, count), rows.narrow(1, 1, count), {}).next *
                      static_cast<double>(count);
      targets += count;
    }
    return sum / static_cast<double>(targets);
  }

  std::vector<Tensor> parameters() {
    std::vector<Tensor> list;
    for (auto& [name, value] : values_) {
      if (value.requires_grad()) list.push_back(value);
    }
    return list;
  }

  /// Returns the matrices of layers, or all other parameters. Vectors of experts have as many
  /// dimensions as matrices outside of experts.
  std::vector<Tensor> parameters(bool matrices) {
    std::vector<Tensor> list;
    for (auto& [name, value] : values_) {
      const bool experts = name.find("experts.") != std::string::npos;
      const bool matrix = name.starts_with("layers.") && value.dim() == (experts ? 3 : 2);
      if (value.requires_grad() && matrix == matrices) list.push_back(value);
    }
    return list;
  }

  /// Returns the rows of queries, keys and values in a fused parameter.
  std::vector<Tensor> matrices_in(const Tensor& value) {
    const std::int64_t queries = m_.heads * m_.head_dim;
    const std::int64_t keys = m_.kv_heads * m_.head_dim;
    for (auto& [name, own] : values_) {
      if (!own.is_same(value)) continue;
      if (name.ends_with("attention.qkv")) return value.split({queries, keys, keys}, 0);
      if (value.dim() == 3) return value.unbind(0);
    }
    return {value};
  }

  Values copy(bool gradients) {
    Values result;
    for (auto& [name, value] : values_) {
      if (gradients && buffers_.contains(name)) continue;
      const Tensor none = at::zeros_like(value);
      const Tensor gradient = value.requires_grad() ? value.grad() : none;
      const Tensor flat = (gradients ? gradient : value.detach()).reshape({-1}).contiguous();
      result[name].assign(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
    }
    return result;
  }

 private:
  void add(const std::string& prefix, const std::vector<model::ModelParameter>& list,
           const Values& initial) {
    for (const model::ModelParameter& one : list) {
      const std::string name = prefix + std::string(one.name);
      Tensor value = at::tensor(initial.at(name), at::kDouble);
      if (one.expert) {
        value = value.view({one.copies, one.rows, one.columns});
      } else if (!one.vector || one.columns > 1) {
        value = value.view({one.rows, one.columns});
      }
      if (!one.trained) buffers_.insert(name);
      values_[name] = value.requires_grad_(one.trained && !one.frozen);
    }
  }

  Tensor& p(const std::string& name) { return values_.at(name); }

  Tensor entropy(const Tensor& rows, const Tensor& targets) {
    const Tensor& table = m_.tied ? p("embedding.word") : p("head.weight");
    Tensor logits = at::matmul(rows, table.t());
    if (m_.head_bias) logits = logits + p("head.bias");
    logits = capped(logits * m_.logit_scale, m_.logit_cap);
    return at::cross_entropy_loss(logits.reshape({-1, m_.vocabulary}), targets.reshape({-1}));
  }

  /// Returns the losses of multi-token layers (DeepSeek-V3, equations 21 to 25) after the rows of
  /// the last layer; `all`: the tokens of each sample, one more than rows.
  Tensor loss_ahead(const Tensor& rows, const Tensor& all) {
    Tensor sum = at::zeros({}, at::kDouble);
    Tensor hidden = rows;
    const std::int64_t length = rows.size(1);
    for (std::int64_t ahead = 1; ahead <= m_.extra_predicted_tokens(); ++ahead) {
      const std::string name = fmt::format("layers.{}.multi_token.", m_.layers + ahead - 1);
      const Tensor following =
          at::constant_pad_nd(all.narrow(1, ahead, length + 1 - ahead), {0, ahead - 1});
      const Tensor embedded = at::embedding(p("embedding.word"), following) * m_.embedding_scale;
      const Tensor joined = at::cat(
          {norm(embedded, name + "norm_embedding"), norm(hidden, name + "norm_hidden")}, -1);
      hidden = layer(linear(joined, name + "projection"), m_.layers + ahead - 1);
      const std::int64_t known = length - ahead;
      sum = sum + entropy(norm(hidden, name + "norm_final").narrow(1, 0, known),
                          all.narrow(1, ahead + 1, known));
    }
    return sum * m_.multi_token_weight / std::max<std::int64_t>(1, m_.extra_predicted_tokens());
  }

  static Tensor capped(const Tensor& x, double cap) {
    return cap > 0 ? cap * at::tanh(x / cap) : x;
  }

  /// Normalises [..., columns] and multiplies by the weight of the last dimensions, if there is
  /// one.
  Tensor norm(const Tensor& x, const std::string& name) {
    const Tensor mean =
        m_.norm == model::Norm::kLayer ? x.mean(-1, true) : at::zeros({}, at::kDouble);
    Tensor y = (x - mean) / ((x - mean).pow(2).mean(-1, true) + m_.norm_epsilon).sqrt();
    const auto weight = values_.find(name);
    const auto shaped = [&](const Tensor& t) {
      return t.numel() == x.size(-1) ? t : t.view({x.size(-2), x.size(-1)});
    };
    if (weight != values_.end()) {
      y = y * (shaped(weight->second) + (m_.norm_unit_offset ? 1 : 0));
    }
    const auto bias = values_.find(name + "_bias");
    return bias == values_.end() ? y : y + shaped(bias->second);
  }

  /// Returns queries or keys [batch, length, width] as normalised heads [batch, heads, length,
  /// dim].
  Tensor normed_heads(const Tensor& rows, const std::string& name) {
    const auto heads = [&](const Tensor& t) { return t.unflatten(-1, {-1, m_.head_dim}); };
    Tensor x = heads(rows);
    if (m_.qk_norm == model::QkNorm::kWhole) {
      x = heads(norm(rows, name));
    } else if (m_.qk_norm != model::QkNorm::kNone) {
      x = norm(x, name);
    }
    return x.transpose(1, 2);
  }

  /// Returns the distances that ALiBi adds to scores [heads, length, length], by the code of its
  /// paper (arXiv 2108.12409, ofirpress/attention_with_linear_biases): slopes of powers of two, and
  /// between them.
  Tensor distances(std::int64_t length) const {
    std::int64_t even = 1;
    while (2 * even <= m_.heads) even *= 2;
    std::vector<double> slopes;
    for (std::int64_t i = 1; i <= even; ++i) {
      slopes.push_back(std::pow(2.0, -8.0 * static_cast<double>(i) / static_cast<double>(even)));
    }
    for (std::int64_t i = 1; std::ssize(slopes) < m_.heads; i += 2) {
      slopes.push_back(
          std::pow(2.0, -8.0 * static_cast<double>(i) / static_cast<double>(2 * even)));
    }
    const Tensor place = at::arange(length, at::kDouble);
    return at::tensor(slopes, at::kDouble).view({-1, 1, 1}) *
           (place.unsqueeze(0) - place.unsqueeze(1));
  }

  /// Returns the softmax of scores [batch, heads, length, length], with sinks if the model has
  /// them.
  Tensor probabilities(const Tensor& scores, const std::string& at_layer) {
    if (!m_.sinks) return scores.softmax(-1);
    const Tensor sinks = p(at_layer + "attention.sinks").view({1, -1, 1, 1});
    const Tensor all = at::cat({scores, sinks.expand({scores.size(0), -1, scores.size(2), 1})}, -1);
    return all.softmax(-1).narrow(-1, 0, scores.size(-1));
  }

  /// Returns which of `length` keys each query sees.
  static Tensor seen_keys(const model::LayerClass& layer, std::int64_t length) {
    const Tensor ones = at::ones({length, length}, at::kBool);
    if (layer.window == 0) return ones.tril();
    if (!layer.chunked) return ones.tril().logical_and(ones.triu(1 - layer.window));
    const Tensor chunk = at::arange(length, at::kLong).div(layer.window, "floor");
    return ones.tril().logical_and(chunk.unsqueeze(0).eq(chunk.unsqueeze(1)));
  }

  /// Returns the result of the adapters on a product; each part of a fused product has its own A
  /// and B.
  Tensor adapted(const Tensor& x, const std::string& name, std::int64_t expert = -1) {
    const auto found = values_.find(name + "_lora_a");
    if (found == values_.end()) return at::zeros({}, at::kDouble);
    const auto own = [&](const Tensor& all) { return expert < 0 ? all : all[expert]; };
    const Tensor down = own(found->second);
    const Tensor up = own(p(name + "_lora_b"));
    const model::LoraAdapters& adapters = *m_.adapters;
    const Tensor narrow = at::matmul(dropped_input(x, name), down.t());
    if (narrow.size(-1) == adapters.rank) {
      return wide(at::matmul(narrow, up.t()), name) * adapters.scale();
    }
    std::vector<Tensor> parts;
    std::int64_t row = 0;
    std::int64_t column = 0;
    for (const std::int64_t rows : adapted_rows(name)) {
      parts.push_back(
          at::matmul(narrow.narrow(-1, column, adapters.rank), up.narrow(0, row, rows).t()));
      row += rows;
      column += adapters.rank;
    }
    return wide(at::cat(parts, -1), name) * adapters.scale();
  }

  /// Returns the number of rows of each adapted part: of queries, keys and values, or of gate and
  /// input of an MLP.
  [[nodiscard]] std::vector<std::int64_t> adapted_rows(const std::string& name) const {
    std::vector<std::int64_t> rows;
    for (const auto& [target, count] : parts_of(name)) {
      if (m_.adapters->has(target)) rows.push_back(count);
    }
    return rows;
  }

  [[nodiscard]] std::vector<std::pair<model::LoraTargetProduct, std::int64_t>> parts_of(
      const std::string& name) const {
    const std::int64_t keys = m_.kv_heads * m_.head_dim;
    if (name.ends_with("qkv")) {
      return {{model::LoraTargetProduct::kQuery, m_.heads * m_.head_dim},
              {model::LoraTargetProduct::kKey, keys},
              {model::LoraTargetProduct::kValue, keys}};
    }
    if (name.ends_with("fc1") && m_.gated) {
      const std::int64_t half = values_.at(name).size(-2) / 2;
      return {{model::LoraTargetProduct::kGate, half}, {model::LoraTargetProduct::kUp, half}};
    }
    return {};
  }

  /// Puts the columns of adapted parts at their positions among all columns of a product.
  Tensor wide(const Tensor& parts, const std::string& name) {
    const std::int64_t all = p(name).size(-2);
    if (parts.size(-1) == all) return parts;
    std::vector<Tensor> columns;
    std::int64_t begin = 0;
    for (const auto& [target, count] : parts_of(name)) {
      const bool adapted = m_.adapters->has(target);
      std::vector<std::int64_t> sizes = parts.sizes().vec();
      sizes.back() = count;
      columns.push_back(adapted ? parts.narrow(-1, begin, count)
                                : at::zeros(sizes, parts.options()));
      if (adapted) begin += count;
    }
    return at::cat(columns, -1);
  }

  /// Returns the dropout position of a weight's adapter, by the weight's name in its layer.
  static runtime::BlockDropoutKind place_of_adapter(std::string_view weight) {
    static const std::map<std::string_view, runtime::BlockDropoutKind> kPlaces = {
        {"attention.qkv", runtime::BlockDropoutKind::kQkvAdapter},
        {"attention.q", runtime::BlockDropoutKind::kQkvAdapter},
        {"attention.q_down", runtime::BlockDropoutKind::kQueryDownAdapter},
        {"attention.q_up", runtime::BlockDropoutKind::kQueryUpAdapter},
        {"attention.kv_down", runtime::BlockDropoutKind::kKeyValueDownAdapter},
        {"attention.kv_up", runtime::BlockDropoutKind::kKeyValueUpAdapter},
        {"attention.output", runtime::BlockDropoutKind::kProjectionAdapter},
        {"mlp.fc1", runtime::BlockDropoutKind::kFc1Adapter},
        {"mlp.fc2", runtime::BlockDropoutKind::kFc2Adapter}};
    return kPlaces.at(weight);
  }

  Tensor dropped_input(const Tensor& x, const std::string& name) {
    const double probability = m_.adapters->dropout;
    if (probability == 0) return x;
    draw_.layer = std::stoll(name.substr(name.find('.') + 1));
    draw_.place = place_of_adapter(std::string_view(name).substr(name.find('.', 7) + 1));
    draw_.probability = probability;
    const std::int64_t width = x.size(-1);
    const Tensor kept =
        runtime::dropout_keep_mask(draw_, {.rows = at::arange(x.numel() / width, at::kLong),
                                           .columns = at::arange(width, at::kLong),
                                           .width = width});
    return x * kept.view(x.sizes()) / (1 - probability);
  }

  Tensor linear(const Tensor& x, const std::string& name) {
    const auto bias = values_.find(name + "_bias");
    const Tensor y = at::matmul(x, p(name).t()) + adapted(x, name);
    return bias == values_.end() ? y : y + bias->second;
  }

  /// Applies dropout to [..., columns], whose rows are in the order of the batch.
  Tensor dropped(const Tensor& x, std::int64_t layer, runtime::BlockDropoutKind place) {
    if (m_.dropout == 0) return x;
    draw_.layer = layer;
    draw_.place = place;
    draw_.probability = m_.dropout;
    const std::int64_t width = x.size(-1);
    const Tensor kept =
        runtime::dropout_keep_mask(draw_, {.rows = at::arange(x.numel() / width, at::kLong),
                                           .columns = at::arange(width, at::kLong),
                                           .width = width});
    return x * kept.view(x.sizes()) / (1 - m_.dropout);
  }

  /// Rotates [batch, heads, length, dim] by position.
  Tensor rotate(const Tensor& x, const model::LayerClass& of_layer) const {
    if (m_.position != model::PositionEncoding::kRope || !of_layer.rotated) return x;
    const auto turned =
        static_cast<std::int64_t>(static_cast<double>(x.size(-1)) * m_.rotary_fraction);
    const bool own_base = of_layer.window > 0 && m_.window_rotary_base > 0;
    const double base = own_base ? m_.window_rotary_base : m_.rotary_base;
    Tensor angles = at::arange(0, turned, 2, at::kDouble) / static_cast<double>(turned);
    angles = at::outer(at::arange(x.size(2), at::kDouble), at::pow(base, -angles));
    angles = at::cat({angles, angles}, -1);
    const Tensor part = x.narrow(-1, 0, turned);
    const Tensor swapped =
        at::cat({-part.narrow(-1, turned / 2, turned / 2), part.narrow(-1, 0, turned / 2)}, -1);
    const Tensor done = part * at::cos(angles) + swapped * at::sin(angles);
    return at::cat({done, x.narrow(-1, turned, x.size(-1) - turned)}, -1);
  }

  /// Queries, keys and values [batch, heads, length, dim].
  struct Heads {
    Tensor q, k, v;
  };

  Heads heads_of(const Tensor& qkv, const std::string& at_layer,
                 const model::LayerClass& of_layer) {
    const std::int64_t q_width = m_.heads * m_.head_dim;
    const std::int64_t k_width = m_.kv_heads * m_.head_dim;
    const Tensor q = normed_heads(qkv.narrow(-1, 0, q_width), at_layer + "attention.q_norm");
    const Tensor k = normed_heads(qkv.narrow(-1, q_width, k_width), at_layer + "attention.k_norm");
    const Tensor v =
        qkv.narrow(-1, q_width + k_width, k_width).unflatten(-1, {-1, m_.head_dim}).transpose(1, 2);
    const std::int64_t run = m_.heads / m_.kv_heads;
    return {rotate(q, of_layer), rotate(k, of_layer).repeat_interleave(run, 1),
            v.repeat_interleave(run, 1)};
  }

  /// Latent attention, DeepSeek-V2, equations 9 to 19: low ranks, and a rotated part that all keys
  /// share.
  Heads latent_heads(const Tensor& x, const std::string& at_layer,
                     const model::LayerClass& of_layer) {
    const model::LatentAttention& latent = *m_.latent;
    const std::string name = at_layer + "attention.";
    const auto by_head = [&](const Tensor& t) {
      return t.unflatten(-1, {m_.heads, -1}).transpose(1, 2);
    };
    const Tensor q =
        by_head(latent.query_rank == 0
                    ? linear(x, name + "q")
                    : linear(norm(linear(x, name + "q_down"), name + "q_norm"), name + "q_up"));
    const Tensor down = linear(x, name + "kv_down");
    const Tensor kv =
        by_head(linear(norm(down.narrow(-1, 0, latent.kv_rank), name + "kv_norm"), name + "kv_up"));
    const std::int64_t nope = latent.nope_head_dim;
    const std::int64_t rope = latent.rope_head_dim;
    const Tensor shared = rotate(down.narrow(-1, latent.kv_rank, rope).unsqueeze(1), of_layer);
    return {at::cat({q.narrow(-1, 0, nope), rotate(q.narrow(-1, nope, rope), of_layer)}, -1),
            at::cat({kv.narrow(-1, 0, nope), shared.expand({-1, m_.heads, -1, -1})}, -1),
            kv.narrow(-1, nope, latent.value_head_dim)};
  }

  /// Indexer scores, DeepSeek-V3.2, equation 1: of keys, [batch, 1, length, length]. They have no
  /// loss.
  Tensor index_scores(const Tensor& x, const std::string& at_layer,
                      const model::LayerClass& of_layer) {
    const std::string name = at_layer + "attention.";
    const std::int64_t heads = m_.latent->index_heads;
    const auto turned = [&](const Tensor& t) {
      const std::int64_t rope = m_.latent->rope_head_dim;
      return at::cat(
          {rotate(t.narrow(-1, 0, rope), of_layer), t.narrow(-1, rope, t.size(-1) - rope)}, -1);
    };
    const Tensor low = norm(linear(x, name + "q_down"), name + "q_norm");
    const Tensor q =
        turned(linear(low, name + "index_q").unflatten(-1, {heads, -1}).transpose(1, 2));
    const Tensor rows = linear(x, name + "index_k");
    const Tensor k = turned(at::layer_norm(rows, {rows.size(-1)}, p(name + "index_norm"),
                                           p(name + "index_norm_bias"), 1e-6)
                                .unsqueeze(1));
    const Tensor w = linear(x, name + "index_weights").transpose(1, 2).unsqueeze(-1);
    return (w * at::matmul(q, k.transpose(-1, -2)).relu()).sum(1, true);
  }

  /// Returns which keys have the best scores among those that each token sees.
  Tensor chosen_keys(const Tensor& scores, const Tensor& seen) const {
    const Tensor open = scores.detach().masked_fill(seen.logical_not(), -INFINITY);
    const std::int64_t count = std::min(m_.latent->index_top_k, open.size(-1));
    const Tensor best = std::get<1>(open.topk(count, -1));
    return at::zeros_like(open, at::kBool).scatter(-1, best, true).logical_and(seen);
  }

  Tensor attention(const Tensor& x, std::int64_t index) {
    const std::string at_layer = fmt::format("layers.{}.", index);
    const model::LayerClass of_layer = m_.layer_class(index);
    const Tensor qkv = m_.latent ? Tensor() : linear(x, at_layer + "attention.qkv");
    const auto [q, k, v] =
        m_.latent ? latent_heads(x, at_layer, of_layer) : heads_of(qkv, at_layer, of_layer);
    const double scale =
        m_.attention_scale > 0 ? m_.attention_scale : 1 / std::sqrt(1.0 * m_.head_dim);
    Tensor scores = capped(at::matmul(q, k.transpose(-1, -2)) * scale, m_.attention_cap);
    if (m_.position == model::PositionEncoding::kAlibi) scores = scores + distances(x.size(1));
    Tensor seen = seen_keys(of_layer, x.size(1));
    if (m_.has_sparse_attention_indexer()) {
      const Tensor of_keys = index_scores(x, at_layer, of_layer);
      seen = chosen_keys(of_keys, seen);
      scores = scores + 0 * of_keys.sum();  // gradients of zero
    }
    scores = scores.masked_fill(seen.logical_not(), -INFINITY);
    const Tensor weights =
        dropped(probabilities(scores, at_layer), index, runtime::BlockDropoutKind::kProbabilities);
    Tensor out = at::matmul(weights, v).transpose(1, 2).flatten(2);
    if (m_.attention_gate) {
      const std::int64_t width = m_.heads * m_.head_dim;
      out = out * qkv.narrow(-1, qkv.size(-1) - width, width).sigmoid();
    }
    return linear(out, at_layer + "attention.output");
  }

  LayerParameters of_layer(std::int64_t index) {
    return [this, index](const std::string& name) {
      const auto found = values_.find(fmt::format("layers.{}.{}", index, name));
      return found == values_.end() ? Tensor() : found->second;
    };
  }

  Tensor feed_forward(const Tensor& rows, std::int64_t index) {
    const ReferenceFeedForward of(
        job_, of_layer(index), [&](const Tensor& x, const std::string& name, std::int64_t expert) {
          return adapted(x, fmt::format("layers.{}.{}", index, name), expert);
        });
    if (!m_.layer_class(index).has_experts()) return of.mlp(rows, "mlp");
    const auto [out, counts] = of.mixture(rows);
    const std::string bias = fmt::format("layers.{}.router.correction_bias", index);
    if (!values_.contains(bias) || !m_.adjusts_router_biases(m_.layer_class(index))) return out;
    loads_[bias] = loads_.contains(bias) ? loads_[bias] + counts : counts;
    return out;
  }

  Tensor mix(const Tensor& rows, std::int64_t index) {
    const model::LayerClass layer = m_.layer_class(index);
    if (!layer.attends()) return mix_states(m_, layer.mixer, rows, of_layer(index));
    const Tensor attended = attention(rows, index);
    if (layer.beside == model::TokenMixer::kNone) return attended;
    return attended + mix_states(m_, layer.beside, rows, of_layer(index));
  }

  Tensor before(const Tensor& x, std::int64_t index, const std::string& name) {
    return m_.has_norms_before_attention_and_mlp(m_.layer_class(index)) ? norm(x, name) : x;
  }

  Tensor after(const Tensor& y, std::int64_t index, const std::string& name) {
    return m_.norms_results(m_.layer_class(index)) ? norm(y, name + "_out") : y;
  }

  Tensor layer(const Tensor& x, std::int64_t index) {
    const model::LayerClass of_layer = m_.layer_class(index);
    const std::string first_name = fmt::format("layers.{}.norm.attention", index);
    const std::string second_name = fmt::format("layers.{}.norm.mlp", index);
    const bool mixes = of_layer.mixer != model::TokenMixer::kNone;
    const bool feeds = of_layer.feed_forward != model::FeedForward::kNone;
    if (m_.parallel_residual && mixes && of_layer.feed_forward == model::FeedForward::kDense) {
      const Tensor first = before(x, index, first_name);
      const Tensor second = m_.shared_input_norm ? first : before(x, index, second_name);
      const Tensor both = mix(first, index) + feed_forward(second, index);
      return x + dropped(both, index, runtime::BlockDropoutKind::kAfterMlp) * m_.residual_scale;
    }
    Tensor z = x;
    if (mixes) {
      const Tensor y = after(mix(before(x, index, first_name), index), index, first_name);
      z = z + dropped(y, index, runtime::BlockDropoutKind::kAfterAttention) * m_.residual_scale;
    }
    if (!feeds) return z;
    const Tensor y = after(feed_forward(before(z, index, second_name), index), index, second_name);
    return z + dropped(y, index, runtime::BlockDropoutKind::kAfterMlp) * m_.residual_scale;
  }

  const plan::Job& job_;
  const model::ModelArchitecture& m_;
  runtime::DropoutGeneratorInputs draw_;
  std::map<std::string, Tensor> values_;
  std::set<std::string> buffers_;  ///< Names of stored values that are not parameters.
  /// Rows of each expert in a step, by the name of the router's bias.
  std::map<std::string, Tensor> loads_;
};

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const plan::Job& job,
                                                        const runtime::TrainOptions& o,
                                                        const std::vector<Tensor>& parameters) {
  const auto betas = std::make_tuple(o.beta1, o.beta2);
  if (job.optimizer == plan::Optimizer::kSgd) {
    return std::make_unique<torch::optim::SGD>(parameters,
                                               torch::optim::SGDOptions(o.learning_rate));
  }
  if (job.optimizer == plan::Optimizer::kAdamW || job.optimizer == plan::Optimizer::kAdam8bit) {
    return std::make_unique<torch::optim::AdamW>(parameters,
                                                 torch::optim::AdamWOptions(o.learning_rate)
                                                     .betas(betas)
                                                     .eps(o.epsilon)
                                                     .weight_decay(o.weight_decay));
  }
  return std::make_unique<torch::optim::Adam>(
      parameters, torch::optim::AdamOptions(o.learning_rate).betas(betas).eps(o.epsilon));
}

/// Rounds the moments of Adam to bf16 after each step.
void narrow_moments(torch::optim::Optimizer& optimizer) {
  for (auto& [parameter, state] : optimizer.state()) {
    auto& adam = static_cast<torch::optim::AdamParamState&>(*state);
    for (const Tensor& moment : {adam.exp_avg(), adam.exp_avg_sq()}) {
      moment.copy_(moment.to(at::kBFloat16));
    }
  }
}

/// Returns the 256 numbers of a dynamic map: in each decade, the middles of equal parts of 0.1 to 1
/// (bitsandbytes functional.py, create_dynamic_map).
Tensor dynamic_map(bool with_signs) {
  std::vector<Tensor> numbers{at::tensor({0.0, 1.0}, at::kDouble)};
  for (int i = 0; i < 7; ++i) {
    const std::int64_t items = (1 << (with_signs ? i : i + 1)) + 1;
    const Tensor edges = at::linspace(0.1, 1, items, at::kDouble);
    const Tensor means = (edges.narrow(0, 0, items - 1) + edges.narrow(0, 1, items - 1)) / 2;
    const Tensor decade = (std::pow(10, i - 6) * means).to(at::kFloat).to(at::kDouble);
    numbers.push_back(decade);
    if (with_signs) numbers.push_back(-decade);
  }
  return std::get<0>(at::cat(numbers).sort());
}

/// Rounds the moments of Adam to 8 bits after each step, with a scale per 256 values.
void eight_bit_moments(torch::optim::Optimizer& optimizer) {
  const auto round = [](Tensor moment, const Tensor& map, bool with_signs) {
    Tensor flat = moment.view({-1});
    for (std::int64_t first = 0; first < flat.numel(); first += 256) {
      Tensor block = flat.narrow(0, first, std::min<std::int64_t>(256, flat.numel() - first));
      const Tensor scale = block.abs().max();
      if (scale.item<double>() == 0) continue;
      Tensor nearest = (block.unsqueeze(1) / scale - map).abs().argmin(1);
      const Tensor turned = (map.index({nearest}) == 0).logical_and(block < 0);
      if (with_signs) nearest = at::where(turned, nearest - 1, nearest);
      block.copy_(map.index({nearest}) * scale);
    }
  };
  const torch::NoGradGuard guard;
  for (auto& [parameter, state] : optimizer.state()) {
    auto& adam = static_cast<torch::optim::AdamParamState&>(*state);
    round(adam.exp_avg(), dynamic_map(true), true);
    round(adam.exp_avg_sq(), dynamic_map(false), false);
  }
}

/// The reference optimizer Muon for matrices (https://github.com/KellerJordan/Muon, muon.py) with
/// AdamW for the rest.
class PlainMuon {
 public:
  PlainMuon(Model& model, const runtime::TrainOptions& options)
      : model_(model),
        options_(options),
        rest_(model.parameters(false), torch::optim::AdamWOptions(options.learning_rate)
                                           .betas(std::make_tuple(options.beta1, options.beta2))
                                           .eps(options.epsilon)
                                           .weight_decay(options.weight_decay)) {}

  void step() {
    rest_.step();
    const torch::NoGradGuard guard;
    for (Tensor& value : model_.parameters(true)) {
      Tensor& momentum =
          momenta_.try_emplace(value.data_ptr(), at::zeros_like(value)).first->second;
      momentum = 0.95 * momentum + 0.05 * value.grad();
      const Tensor update = 0.05 * value.grad() + 0.95 * momentum;
      value.mul_(1 - options_.learning_rate * options_.weight_decay);
      take(value, update);
    }
  }

 private:
  void take(Tensor& value, const Tensor& update) {
    const std::vector<Tensor> parts = model_.matrices_in(value);
    std::int64_t row = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Tensor part = parts[i];
      const bool stack = value.dim() == 3;
      const Tensor own =
          stack ? update[static_cast<std::int64_t>(i)] : update.narrow(0, row, part.size(0));
      row += stack ? 0 : part.size(0);
      const double shape = static_cast<double>(part.size(0)) / static_cast<double>(part.size(1));
      part.sub_(orthogonal(own) * options_.learning_rate * std::sqrt(std::max(1.0, shape)));
    }
  }

  static Tensor orthogonal(const Tensor& update) {
    const bool tall = update.size(0) > update.size(1);
    Tensor x = tall ? update.t() : update;
    x = x / (x.norm() + 1e-7);
    for (int i = 0; i < 5; ++i) {
      const Tensor a = x.mm(x.t());
      x = 3.4445 * x + (-4.7750 * a + 2.0315 * a.mm(a)).mm(x);
    }
    return tall ? x.t() : x;
  }

  Model& model_;
  const runtime::TrainOptions& options_;
  torch::optim::AdamW rest_;
  std::map<void*, Tensor> momenta_;
};

/// The reference optimizer Adafactor without a first moment (transformers/optimization.py,
/// Adafactor.step, with its defaults except scale_parameter and relative_step, which are off);
/// queries, keys, values and experts are updated separately.
class PlainAdafactor {
 public:
  PlainAdafactor(Model& model, const runtime::TrainOptions& options)
      : model_(model), options_(options) {}

  void step() {
    const torch::NoGradGuard guard;
    const double beta = 1 - std::pow(++steps_, -0.8);
    for (const Tensor& value : model_.parameters()) {
      const std::vector<Tensor> parts = model_.matrices_in(value);
      const std::vector<Tensor> gradients = split_like(value.grad(), parts, value.dim() == 3);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        Tensor update = scaled(parts[i], gradients[i], beta);
        const double root = (update.norm() / std::sqrt(1.0 * update.numel())).item<double>();
        update = update / std::max(1.0, root) * options_.learning_rate;
        parts[i].mul_(1 - options_.weight_decay * options_.learning_rate).sub_(update);
      }
    }
  }

 private:
  static std::vector<Tensor> split_like(const Tensor& gradient, const std::vector<Tensor>& parts,
                                        bool stack) {
    if (stack) return gradient.unbind(0);
    std::vector<std::int64_t> rows;
    for (const Tensor& part : parts) rows.push_back(part.size(0));
    return gradient.split_with_sizes(rows, 0);
  }

  Tensor scaled(const Tensor& part, const Tensor& gradient, double beta) {
    const Tensor square = gradient.square() + 1e-30;
    const auto decayed = [&](const char* name, const Tensor& now) {
      Tensor& kept = states_[{part.data_ptr(), name}];
      kept = kept.defined() ? kept * beta + now * (1 - beta) : now.clone();
      return kept;
    };
    if (part.dim() < 2 || part.size(0) == 1) return gradient * decayed("all", square).rsqrt();
    const Tensor rows = decayed("rows", square.mean(-1));
    const Tensor columns = decayed("columns", square.mean(-2));
    return gradient * (rows / rows.mean()).rsqrt().unsqueeze(-1) * columns.rsqrt().unsqueeze(-2);
  }

  Model& model_;
  const runtime::TrainOptions& options_;
  double steps_ = 0;
  std::map<std::pair<void*, std::string>, Tensor> states_;
};

}  // namespace

namespace {

/// Returns the documents of a step, as tokens.
std::vector<Tensor> documents_of(const plan::Job& job, const runtime::TokenFile& tokens,
                                 runtime::ShuffledSamples& samples, std::int64_t step) {
  const runtime::SequenceDocumentLengths packed(job);
  std::vector<Tensor> documents;
  for (std::int64_t i = step * job.sequences; i < (step + 1) * job.sequences; ++i) {
    std::int64_t at = samples.begin(i);
    for (const std::int64_t length : packed.of(i)) {
      Tensor& document = documents.emplace_back(at::empty({length}, at::kLong));
      for (std::int64_t j = 0; j < length; ++j) document[j] = tokens.at(at++);
    }
  }
  return documents;
}

}  // namespace

Trained train_reference(const plan::Job& job, const Values& initial,
                        const runtime::TrainOptions& options) {
  at::set_num_threads(1);
  const runtime::TokenFile tokens(options.data, runtime::TokenFileFormat::kText,
                                  job.model.vocabulary);
  runtime::ShuffledSamples samples(tokens, job.length, options.seed, options.data);
  Model model(job, initial);
  const auto optimizer = make_optimizer(job, options, model.parameters());
  PlainMuon muon(model, options);
  PlainAdafactor adafactor(model, options);
  Trained result;
  for (std::int64_t step = 0; step < options.steps; ++step) {
    Tensor in = at::empty({job.sequences, job.length}, at::kLong);
    Tensor out = at::empty_like(in);
    for (std::int64_t i = 0; i < job.sequences; ++i) {
      const std::int64_t begin = samples.begin(step * job.sequences + i);
      for (std::int64_t j = 0; j < job.length; ++j) {
        in[i][j] = tokens.at(begin + j);
        out[i][j] = tokens.at(begin + j + 1);
      }
    }
    optimizer->zero_grad();
    Model::Loss found;
    if (job.documents) {
      found.next = model.loss_of_documents(documents_of(job, tokens, samples, step));
      found.minimised = found.next;
    } else {
      found = model.loss(in, out, {.seed = options.seed, .step = step});
    }
    const Tensor& loss = found.next;
    found.minimised.backward();
    result.losses.push_back(loss.item<double>());
    result.gradients = model.copy(true);
    result.norms.push_back(torch::nn::utils::clip_grad_norm_(model.parameters(), options.clip));
    if (job.optimizer == plan::Optimizer::kMuon) {
      muon.step();
    } else if (job.optimizer == plan::Optimizer::kAdafactor) {
      adafactor.step();
    } else {
      optimizer->step();
    }
    if (job.optimizer == plan::Optimizer::kAdamNarrow) narrow_moments(*optimizer);
    if (job.optimizer == plan::Optimizer::kAdam8bit) eight_bit_moments(*optimizer);
    model.correct();
  }
  result.weights = model.copy(false);
  return result;
}

}  // namespace stepwright::testing
