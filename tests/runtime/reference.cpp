#include "tests/runtime/reference.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIndexing.h>
#include <fmt/format.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <memory>

#include "stepwright/model/parameters.h"
#include "stepwright/runtime/data/sequence_documents.h"
#include "stepwright/runtime/data/tokens.h"
#include "stepwright/runtime/kernels/dropout_mask.h"

namespace stepwright::testing {
namespace {

using at::Tensor;

class Model {
 public:
  Model(const Job& job, const Values& initial) : job_(job), m_(job.model) {
    const Architecture& model = m_;
    add("", embedding_parameters(model), initial);
    for (std::int64_t i = 0; i < model.layers; ++i) {
      add(fmt::format("layers.{}.", i), layer_parameters(model, model.layer_class(i)), initial);
    }
    add("", head_parameters(model), initial);
  }

  /// Mean cross entropy of [batch, length] tokens and targets.
  Tensor loss(const Tensor& tokens, const Tensor& targets, const DropoutDraw& of_step) {
    draw_ = of_step;
    Tensor x = at::embedding(p("embedding.word"), tokens) * m_.embedding_scale;
    if (m_.position == Position::kLearned) {
      x = x + p("embedding.position").narrow(0, 0, tokens.size(1));
    }
    if (m_.embedding_norm) x = norm(x, "embedding.norm");
    x = dropped(x, -1, DropoutPlace::kEmbedding);
    for (std::int64_t i = 0; i < m_.layers; ++i) x = layer(x, i);
    const Tensor& table = m_.tied ? p("embedding.word") : p("head.weight");
    Tensor logits = at::matmul(norm(x, "norm.final"), table.t());
    if (m_.head_bias) logits = logits + p("head.bias");
    logits = capped(logits * m_.logit_scale, m_.logit_cap);
    return at::cross_entropy_loss(logits.reshape({-1, m_.vocabulary}), targets.reshape({-1}));
  }

  /// Mean cross entropy over the targets of all documents, each computed by itself.
  Tensor loss_of_documents(const std::vector<Tensor>& documents) {
    Tensor sum = at::zeros({}, at::kDouble);
    std::int64_t targets = 0;
    for (const Tensor& tokens : documents) {
      const std::int64_t count = tokens.numel() - 1;
      if (count == 0) continue;
      const Tensor rows = tokens.unsqueeze(0);
      sum = sum + loss(rows.narrow(1, 0, count), rows.narrow(1, 1, count), {}) *
                      static_cast<double>(count);
      targets += count;
    }
    return sum / static_cast<double>(targets);
  }

  std::vector<Tensor> parameters() {
    std::vector<Tensor> list;
    for (auto& [name, value] : values_) list.push_back(value);
    return list;
  }

  Values copy(bool gradients) {
    Values result;
    for (auto& [name, value] : values_) {
      const Tensor flat = (gradients ? value.grad() : value.detach()).reshape({-1}).contiguous();
      result[name].assign(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
    }
    return result;
  }

 private:
  void add(const std::string& prefix, const std::vector<Parameter>& list, const Values& initial) {
    for (const Parameter& one : list) {
      const std::string name = prefix + std::string(one.name);
      Tensor value = at::tensor(initial.at(name), at::kDouble);
      if (one.expert) {
        value = value.view({one.copies, one.rows, one.columns});
      } else if (!one.vector) {
        value = value.view({one.rows, one.columns});
      }
      values_[name] = value.requires_grad_();
    }
  }

  Tensor& p(const std::string& name) { return values_.at(name); }

  static Tensor capped(const Tensor& x, double cap) {
    return cap > 0 ? cap * at::tanh(x / cap) : x;
  }

  /// [..., columns] normed and multiplied by a weight of the last dimensions, where there is one.
  Tensor norm(const Tensor& x, const std::string& name) {
    const Tensor mean = m_.norm == Norm::kLayer ? x.mean(-1, true) : at::zeros({}, at::kDouble);
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

  /// Queries or keys [batch, length, width] in heads [batch, heads, length, dim], normed.
  Tensor normed_heads(const Tensor& rows, const std::string& name) {
    const auto heads = [&](const Tensor& t) { return t.unflatten(-1, {-1, m_.head_dim}); };
    Tensor x = heads(rows);
    if (m_.qk_norm == QkNorm::kWhole) {
      x = heads(norm(rows, name));
    } else if (m_.qk_norm != QkNorm::kNone) {
      x = norm(x, name);
    }
    return x.transpose(1, 2);
  }

  /// The scores [batch, heads, length, length] as a softmax, with a sink where there are any.
  Tensor probabilities(const Tensor& scores, const std::string& at_layer) {
    if (!m_.sinks) return scores.softmax(-1);
    const Tensor sinks = p(at_layer + "attention.sinks").view({1, -1, 1, 1});
    const Tensor all = at::cat({scores, sinks.expand({scores.size(0), -1, scores.size(2), 1})}, -1);
    return all.softmax(-1).narrow(-1, 0, scores.size(-1));
  }

  /// Which of `length` keys each query sees.
  static Tensor seen_keys(const LayerClass& layer, std::int64_t length) {
    const Tensor ones = at::ones({length, length}, at::kBool);
    if (layer.window == 0) return ones.tril();
    if (!layer.chunked) return ones.tril().logical_and(ones.triu(1 - layer.window));
    const Tensor chunk = at::arange(length, at::kLong).div(layer.window, "floor");
    return ones.tril().logical_and(chunk.unsqueeze(0).eq(chunk.unsqueeze(1)));
  }

  Tensor linear(const Tensor& x, const std::string& name) {
    const auto bias = values_.find(name + "_bias");
    const Tensor y = at::matmul(x, p(name).t());
    return bias == values_.end() ? y : y + bias->second;
  }

  /// Dropout of [..., columns], whose rows are in the order of the batch.
  Tensor dropped(const Tensor& x, std::int64_t layer, DropoutPlace place) {
    if (m_.dropout == 0) return x;
    draw_.layer = layer;
    draw_.place = place;
    draw_.probability = m_.dropout;
    const std::int64_t width = x.size(-1);
    const Tensor kept = kept_elements(draw_, {.rows = at::arange(x.numel() / width, at::kLong),
                                              .columns = at::arange(width, at::kLong),
                                              .width = width});
    return x * kept.view(x.sizes()) / (1 - m_.dropout);
  }

  /// [batch, heads, length, dim] turned by position.
  Tensor rotate(const Tensor& x, const LayerClass& of_layer) const {
    if (m_.position != Position::kRope || !of_layer.rotated) return x;
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

  Heads heads_of(const Tensor& qkv, const std::string& at_layer, const LayerClass& of_layer) {
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

  /// DeepSeek-V2, equations 9 to 19: low ranks, and a rotated part that keys share.
  Heads latent_heads(const Tensor& x, const std::string& at_layer, const LayerClass& of_layer) {
    const LatentAttention& latent = *m_.latent;
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

  Tensor attention(const Tensor& x, std::int64_t index) {
    const std::string at_layer = fmt::format("layers.{}.", index);
    const LayerClass of_layer = m_.layer_class(index);
    const Tensor qkv = m_.latent ? Tensor() : linear(x, at_layer + "attention.qkv");
    const auto [q, k, v] =
        m_.latent ? latent_heads(x, at_layer, of_layer) : heads_of(qkv, at_layer, of_layer);
    const double scale =
        m_.attention_scale > 0 ? m_.attention_scale : 1 / std::sqrt(1.0 * m_.head_dim);
    Tensor scores = capped(at::matmul(q, k.transpose(-1, -2)) * scale, m_.attention_cap);
    scores = scores.masked_fill(seen_keys(of_layer, x.size(1)).logical_not(), -INFINITY);
    const Tensor weights =
        dropped(probabilities(scores, at_layer), index, DropoutPlace::kProbabilities);
    Tensor out = at::matmul(weights, v).transpose(1, 2).flatten(2);
    if (m_.attention_gate) {
      const std::int64_t width = m_.heads * m_.head_dim;
      out = out * qkv.narrow(-1, qkv.size(-1) - width, width).sigmoid();
    }
    return linear(out, at_layer + "attention.output");
  }

  [[nodiscard]] Tensor act(const Tensor& x) const {
    switch (m_.activation) {
      case Activation::kSilu: return x * x.sigmoid();
      case Activation::kGelu: return at::gelu(x);
      case Activation::kGeluTanh: return at::gelu(x, "tanh");
      case Activation::kRelu: return x.clamp_min(0);
      case Activation::kClampedSwiglu:
      case Activation::kQuickGelu: return x * (1.702 * x).sigmoid();
      case Activation::kSquaredRelu: return x.clamp_min(0).pow(2);
    }
    return x;
  }

  [[nodiscard]] Tensor gate(const Tensor& wide) const {
    if (!m_.gated) return act(wide);
    const std::int64_t half = wide.size(-1) / 2;
    const Tensor gates = wide.narrow(-1, 0, half);
    const Tensor ups = wide.narrow(-1, half, half);
    if (m_.activation != Activation::kClampedSwiglu) return act(gates) * ups;
    return act(gates.clamp_max(7)) * (ups.clamp(-7, 7) + 1);
  }

  Tensor mlp(const Tensor& x, const std::string& name) {
    return linear(gate(linear(x, name + ".fc1")), name + ".fc2");
  }

  /// Scores that are zero outside of the groups whose best expert is among the best.
  [[nodiscard]] Tensor of_groups(const Tensor& scores) const {
    const Experts& experts = *m_.experts;
    if (experts.groups == 1) return scores;
    const Tensor best = scores.unflatten(-1, {experts.groups, -1}).amax(-1);
    const Tensor least = std::get<0>(best.topk(experts.top_groups, -1)).amin(-1, true);
    return scores * best.ge(least).repeat_interleave(experts.count / experts.groups, -1);
  }

  /// The experts of each row [rows, k]: the most probable, or dealt out by the row's number.
  [[nodiscard]] Tensor chosen(const Tensor& probabilities) const {
    const Experts& experts = *m_.experts;
    if (job_.routing == Routing::kLearned) {
      return std::get<1>(of_groups(probabilities).topk(experts.top_k, -1));
    }
    const Tensor slots = at::arange(probabilities.size(0) * experts.top_k, at::kLong);
    return slots.remainder(experts.count).view({-1, experts.top_k});
  }

  Tensor expert_linear(const Tensor& x, const std::string& name, std::int64_t expert) {
    const Tensor y = at::matmul(x, p(name)[expert].t());
    return m_.experts->bias ? y + p(name + "_bias")[expert].view({1, -1}) : y;
  }

  /// Each expert works on the rows that chose it, one after the other.
  Tensor mixture(const Tensor& batch, const std::string& at_layer) {
    const Tensor x = batch.reshape({-1, m_.hidden});
    const Tensor logits = linear(x, at_layer + "router.weight");
    const bool sigmoid = m_.experts->scoring == Scoring::kSigmoid;
    const Tensor all = sigmoid ? logits.sigmoid() : logits.softmax(-1);
    const Tensor which = chosen(all.detach());
    Tensor weights = all.gather(1, which);
    if (m_.experts->normalize_top_k) weights = weights / weights.sum(-1, true);
    weights = weights * m_.experts->scale;
    Tensor out = at::zeros_like(x);
    for (std::int64_t i = 0; i < m_.experts->count; ++i) {
      const std::vector<Tensor> places = which.eq(i).nonzero_numpy();
      const Tensor rows = x.index_select(0, places[0]);
      const Tensor wide = expert_linear(rows, at_layer + "experts.fc1", i);
      const Tensor y = expert_linear(gate(wide), at_layer + "experts.fc2", i);
      out = out.index_add(0, places[0], y * weights.index({places[0], places[1]}).unsqueeze(1));
    }
    if (m_.experts->shared_ffn > 0) {
      Tensor shared = mlp(x, at_layer + "shared");
      if (m_.experts->shared_gate) {
        shared = shared * at::sigmoid(at::matmul(x, p(at_layer + "shared.gate").t()));
      }
      out = out + shared;
    }
    return out.view(batch.sizes());
  }

  Tensor feed_forward(const Tensor& rows, std::int64_t index) {
    const std::string name = fmt::format("layers.{}.", index);
    return m_.layer_class(index).has_experts() ? mixture(rows, name) : mlp(rows, name + "mlp");
  }

  Tensor before(const Tensor& x, const std::string& name) {
    return m_.norm_placement == NormPlacement::kAfter ? x : norm(x, name);
  }

  Tensor after(const Tensor& y, const std::string& name) {
    return m_.norm_placement == NormPlacement::kBefore ? y : norm(y, name + "_out");
  }

  Tensor layer(const Tensor& x, std::int64_t index) {
    const LayerClass of_layer = m_.layer_class(index);
    const std::string first_name = fmt::format("layers.{}.norm.attention", index);
    const std::string second_name = fmt::format("layers.{}.norm.mlp", index);
    const bool mixes = of_layer.mixer != Mixer::kNone;
    const bool feeds = of_layer.feed_forward != FeedForward::kNone;
    if (m_.parallel_residual && mixes && of_layer.feed_forward == FeedForward::kDense) {
      const Tensor first = before(x, first_name);
      const Tensor second = m_.shared_input_norm ? first : before(x, second_name);
      const Tensor both = attention(first, index) + feed_forward(second, index);
      return x + dropped(both, index, DropoutPlace::kAfterMlp) * m_.residual_scale;
    }
    Tensor z = x;
    if (mixes) {
      const Tensor y = after(attention(before(x, first_name), index), first_name);
      z = z + dropped(y, index, DropoutPlace::kAfterAttention) * m_.residual_scale;
    }
    if (!feeds) return z;
    const Tensor y = after(feed_forward(before(z, second_name), index), second_name);
    return z + dropped(y, index, DropoutPlace::kAfterMlp) * m_.residual_scale;
  }

  const Job& job_;
  const Architecture& m_;
  DropoutDraw draw_;
  std::map<std::string, Tensor> values_;
};

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const Job& job, const TrainOptions& o,
                                                        const std::vector<Tensor>& parameters) {
  const auto betas = std::make_tuple(o.beta1, o.beta2);
  if (job.optimizer == Optimizer::kSgd) {
    return std::make_unique<torch::optim::SGD>(parameters,
                                               torch::optim::SGDOptions(o.learning_rate));
  }
  if (job.optimizer == Optimizer::kAdamW) {
    return std::make_unique<torch::optim::AdamW>(parameters,
                                                 torch::optim::AdamWOptions(o.learning_rate)
                                                     .betas(betas)
                                                     .eps(o.epsilon)
                                                     .weight_decay(o.weight_decay));
  }
  return std::make_unique<torch::optim::Adam>(
      parameters, torch::optim::AdamOptions(o.learning_rate).betas(betas).eps(o.epsilon));
}

}  // namespace

namespace {

/// The documents of a step, as tokens.
std::vector<Tensor> documents_of(const Job& job, const TokenFile& tokens, Samples& samples,
                                 std::int64_t step) {
  const SequenceDocuments packed(job);
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

Trained train_reference(const Job& job, const Values& initial, const TrainOptions& options) {
  at::set_num_threads(1);
  const TokenFile tokens(options.data, TokenFormat::kText, job.model.vocabulary);
  Samples samples(tokens, job.length, options.seed, options.data);
  Model model(job, initial);
  const auto optimizer = make_optimizer(job, options, model.parameters());
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
    const Tensor loss = job.documents
                            ? model.loss_of_documents(documents_of(job, tokens, samples, step))
                            : model.loss(in, out, {.seed = options.seed, .step = step});
    loss.backward();
    result.losses.push_back(loss.item<double>());
    result.gradients = model.copy(true);
    result.norms.push_back(torch::nn::utils::clip_grad_norm_(model.parameters(), options.clip));
    optimizer->step();
  }
  result.weights = model.copy(false);
  return result;
}

}  // namespace stepwright::testing
