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
    Tensor x = at::embedding(p("embedding.word"), tokens);
    if (m_.position == Position::kLearned) {
      x = x + p("embedding.position").narrow(0, 0, tokens.size(1));
    }
    if (m_.embedding_norm) x = norm(x, "embedding.norm");
    x = dropped(x, -1, DropoutPlace::kEmbedding);
    for (std::int64_t i = 0; i < m_.layers; ++i) x = layer(x, i);
    const Tensor& table = m_.tied ? p("embedding.word") : p("head.weight");
    Tensor logits = at::matmul(norm(x, "norm.final"), table.t());
    if (m_.head_bias) logits = logits + p("head.bias");
    return at::cross_entropy_loss(logits.reshape({-1, m_.vocabulary}), targets.reshape({-1}));
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

  Tensor norm(const Tensor& x, const std::string& name) {
    if (m_.norm == Norm::kRms) {
      return x / (x.pow(2).mean(-1, true) + m_.norm_epsilon).sqrt() * p(name);
    }
    const auto bias = m_.norm_bias ? std::optional<Tensor>(p(name + "_bias")) : std::nullopt;
    return at::layer_norm(x, {x.size(-1)}, p(name), bias, m_.norm_epsilon);
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
  Tensor rotate(const Tensor& x) const {
    const auto turned =
        static_cast<std::int64_t>(static_cast<double>(m_.head_dim) * m_.rotary_fraction);
    Tensor angles = at::arange(0, turned, 2, at::kDouble) / static_cast<double>(turned);
    angles = at::outer(at::arange(x.size(2), at::kDouble), at::pow(m_.rotary_base, -angles));
    angles = at::cat({angles, angles}, -1);
    const Tensor part = x.narrow(-1, 0, turned);
    const Tensor swapped =
        at::cat({-part.narrow(-1, turned / 2, turned / 2), part.narrow(-1, 0, turned / 2)}, -1);
    const Tensor done = part * at::cos(angles) + swapped * at::sin(angles);
    return at::cat({done, x.narrow(-1, turned, m_.head_dim - turned)}, -1);
  }

  Tensor attention(const Tensor& x, std::int64_t index) {
    const std::string at_layer = fmt::format("layers.{}.", index);
    const std::int64_t window = m_.layer_class(index).window;
    const Tensor qkv = linear(x, at_layer + "attention.qkv");
    const std::int64_t q_width = m_.heads * m_.head_dim;
    const std::int64_t k_width = m_.kv_heads * m_.head_dim;
    const auto heads = [&](std::int64_t from, std::int64_t width) {
      return qkv.narrow(-1, from, width)
          .reshape({x.size(0), x.size(1), -1, m_.head_dim})
          .transpose(1, 2);
    };
    Tensor q = heads(0, q_width);
    Tensor k = heads(q_width, k_width);
    Tensor v = heads(q_width + k_width, k_width);
    if (m_.qk_norm != QkNorm::kNone) {
      q = q / (q.pow(2).mean(-1, true) + m_.norm_epsilon).sqrt() * p(at_layer + "attention.q_norm");
      k = k / (k.pow(2).mean(-1, true) + m_.norm_epsilon).sqrt() * p(at_layer + "attention.k_norm");
    }
    if (m_.position == Position::kRope) {
      q = rotate(q);
      k = rotate(k);
    }
    k = k.repeat_interleave(m_.heads / m_.kv_heads, 1);
    v = v.repeat_interleave(m_.heads / m_.kv_heads, 1);
    Tensor scores = at::matmul(q, k.transpose(-1, -2)) / std::sqrt(1.0 * m_.head_dim);
    const Tensor ones = at::ones({x.size(1), x.size(1)}, at::kBool);
    Tensor seen = ones.tril();
    if (window > 0) seen = seen.logical_and(ones.triu(1 - window));
    scores = scores.masked_fill(seen.logical_not(), -INFINITY);
    const Tensor weights = dropped(scores.softmax(-1), index, DropoutPlace::kProbabilities);
    const Tensor out = at::matmul(weights, v).transpose(1, 2);
    return linear(out.reshape({x.size(0), x.size(1), -1}), at_layer + "attention.output");
  }

  [[nodiscard]] Tensor act(const Tensor& x) const {
    switch (m_.activation) {
      case Activation::kSilu: return x * x.sigmoid();
      case Activation::kGelu: return at::gelu(x);
      case Activation::kGeluTanh: return at::gelu(x, "tanh");
      case Activation::kRelu: return x.clamp_min(0);
      case Activation::kQuickGelu: return x * (1.702 * x).sigmoid();
      case Activation::kSquaredRelu: return x.clamp_min(0).pow(2);
    }
    return x;
  }

  [[nodiscard]] Tensor gate(const Tensor& wide) const {
    if (!m_.gated) return act(wide);
    const std::int64_t half = wide.size(-1) / 2;
    return act(wide.narrow(-1, 0, half)) * wide.narrow(-1, half, half);
  }

  Tensor mlp(const Tensor& x, const std::string& name) {
    return linear(gate(linear(x, name + ".fc1")), name + ".fc2");
  }

  /// The experts of each row [rows, k]: the most probable, or dealt out by the row's number.
  [[nodiscard]] Tensor chosen(const Tensor& probabilities) const {
    const Experts& experts = *m_.experts;
    if (job_.routing == Routing::kLearned) {
      return std::get<1>(probabilities.topk(experts.top_k, -1));
    }
    const Tensor slots = at::arange(probabilities.size(0) * experts.top_k, at::kLong);
    return slots.remainder(experts.count).view({-1, experts.top_k});
  }

  /// Each expert works on the rows that chose it, one after the other.
  Tensor mixture(const Tensor& batch, const std::string& at_layer) {
    const Tensor x = batch.reshape({-1, m_.hidden});
    const Tensor all = at::matmul(x, p(at_layer + "router.weight").t()).softmax(-1);
    const Tensor which = chosen(all.detach());
    Tensor weights = all.gather(1, which);
    if (m_.experts->normalize_top_k) weights = weights / weights.sum(-1, true);
    Tensor out = at::zeros_like(x);
    for (std::int64_t i = 0; i < m_.experts->count; ++i) {
      const std::vector<Tensor> places = which.eq(i).nonzero_numpy();
      const Tensor rows = x.index_select(0, places[0]);
      const Tensor wide = at::matmul(rows, p(at_layer + "experts.fc1")[i].t());
      const Tensor y = at::matmul(gate(wide), p(at_layer + "experts.fc2")[i].t());
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

  Tensor layer(const Tensor& x, std::int64_t index) {
    const std::string name = fmt::format("layers.{}.", index);
    const Tensor first = norm(x, name + "norm.attention");
    if (m_.parallel_residual) {
      const Tensor second = m_.shared_input_norm ? first : norm(x, name + "norm.mlp");
      return x + dropped(attention(first, index) + mlp(second, name + "mlp"), index,
                         DropoutPlace::kAfterMlp);
    }
    const Tensor middle =
        x + dropped(attention(first, index), index, DropoutPlace::kAfterAttention);
    const Tensor rows = norm(middle, name + "norm.mlp");
    const Tensor branch =
        m_.layer_class(index).has_experts() ? mixture(rows, name) : mlp(rows, name + "mlp");
    return middle + dropped(branch, index, DropoutPlace::kAfterMlp);
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
    const Tensor loss = model.loss(in, out, {.seed = options.seed, .step = step});
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
