// Kernels of the cross entropy over a vocabulary that tensor ranks may share, in the passes of the
// program: the largest logit; the exponentials with their sum, and the target's logit; the
// gradient.
#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// Returns the number of entries of the vocabulary that this rank holds; `first_entry`: the first
/// of them.
std::int64_t entries(const KernelCall& call) {
  const bool looks_up = call.op.kind == step::OperatorKind::kEmbedding;
  return looks_up ? call.op.shape.inner : call.op.shape.columns;
}
std::int64_t first_entry(const KernelCall& call) {
  return step::vocabulary_shard_index(call.rank.setting, call.rank.place) * entries(call);
}

/// Returns the model's logits in the exact type: the head's logits, scaled and capped.
at::Tensor model_logits(const KernelCall& call, const at::Tensor& logits) {
  const model::ModelArchitecture& model = *call.rank.setting.model;
  at::Tensor exact = logits.to(scalar_type(call.rank.setting.exact), false, true);
  if (model.logit_scale != 1) exact.mul_(model.logit_scale);
  if (model.logit_cap > 0) exact.div_(model.logit_cap).tanh_().mul_(model.logit_cap);
  return exact;
}

/// Returns the factor on the gradient of the head's logits that follows from the scale and the cap
/// of the model's logits.
at::Tensor slope(const KernelCall& call, const at::Tensor& logits) {
  const model::ModelArchitecture& model = *call.rank.setting.model;
  return (1 - (model_logits(call, logits) / model.logit_cap).square()) * model.logit_scale;
}

/// Returns the model's logits, with minus infinity for entries that pad the vocabulary.
at::Tensor exact_logits(const KernelCall& call, const at::Tensor& logits) {
  at::Tensor exact = model_logits(call, logits);
  const std::int64_t used = call.rank.setting.model->vocabulary - first_entry(call);
  if (used < exact.size(1)) {
    const std::int64_t first = std::max<std::int64_t>(0, used);
    exact.narrow(1, first, exact.size(1) - first).fill_(-std::numeric_limits<double>::infinity());
  }
  return exact;
}

/// The targets of a loss's tokens, and the weight of its gradient in the step.
struct Task {
  at::Tensor targets;
  at::Tensor counted;  ///< True for tokens that count; undefined: all do.
  double weight = 1;   ///< Weight of each token's gradient.
};

/// Returns the task of a call. The losses of multi-token layers are averaged, each over the tokens
/// that have a target, and weighted.
Task task_of(const KernelCall& call) {
  const plan::Job& job = call.rank.job;
  const std::int64_t multi_token_depth = call.multi_token_depth();
  if (multi_token_depth == 0) {
    const at::Tensor targets = call.rows_used_by_operator(call.batch->targets);
    const bool some = call.batch->documents.defined();
    return {targets, some ? targets.ge(0).unsqueeze(1) : at::Tensor(),
            1 / static_cast<double>(call.batch->step_targets)};
  }
  const at::Tensor targets = call.rows_used_by_operator(
      call.batch->targets_ahead.at(static_cast<std::size_t>(multi_token_depth - 1)));
  const auto predicted = static_cast<double>(job.sequences * (job.length - multi_token_depth));
  const double share =
      job.model.multi_token_weight / static_cast<double>(job.model.extra_predicted_tokens());
  return {targets, targets.ge(0).unsqueeze(1), share / predicted};
}

struct Targets {
  /// Index of each target among this rank's entries, [tokens, 1], clamped to them.
  at::Tensor local;
  at::Tensor here;  ///< True if this rank has the target's entry, [tokens, 1].
};

Targets targets_here(const KernelCall& call, const at::Tensor& targets) {
  const std::int64_t width = entries(call);
  const at::Tensor local = (targets - first_entry(call)).unsqueeze(1);
  return {local.clamp(0, width - 1), local.ge(0).logical_and(local.lt(width))};
}

/// Adds the logits of a forward, whose rows begin at `first`, to those that the run writes to a
/// file.
void keep_logits(const KernelCall& call, const at::Tensor& logits, std::int64_t first) {
  auto* kept = call.rank.logits;
  if (kept == nullptr || call.multi_token_depth() != 0 || call.op.phase != step::Phase::kForward)
    return;
  const at::Tensor rows = model_logits(call, logits).to(at::kDouble);
  at::Tensor& all = (*kept)[call.micro_batch];
  all = first > 0 ? at::cat({all, rows}) : rows;
}

void maximum(KernelCall& call) {
  keep_logits(call, call.read_operand(0), call.op.rows.first);
  at::Tensor largest = exact_logits(call, call.read_operand(0)).amax(1, true);
  // A rank that holds only padding must not contribute an infinity.
  call.write_result(0, largest.clamp_min(std::numeric_limits<float>::lowest()));
}

/// Returns the logit of each token's target; 0 where another rank has it.
at::Tensor target_logits(const KernelCall& call, const at::Tensor& logits,
                         const at::Tensor& targets) {
  const Targets t = targets_here(call, targets);
  return at::where(t.here, logits.gather(1, t.local), at::zeros({}, logits.options()));
}

/// Writes the sums for a part of the vocabulary; the target's logit is not scaled.
void part_sums(KernelCall& call) {
  const at::Tensor exact = exact_logits(call, call.read_operand(0));
  call.write_result(0, target_logits(call, exact, task_of(call).targets));
  const at::Tensor exponentials = (exact - call.read_operand(1)).exp();
  call.write_result(1, exponentials.sum(1, true));
  const step::TensorId id = call.piece.writes(call.op)[2];
  const step::TemplateTensor& kept = call.piece.tensors[static_cast<std::size_t>(id)];
  call.write_result(2, exponentials.to(scalar_type(kept.dtype)));
}

/// Writes exponentials over their sum, also in the storage type if they are wider. The largest
/// logit adds 1 to the sum, so the sum is below 1 only in a part that holds only padding.
void part_softmax(KernelCall& call) {
  const at::Tensor softmax = call.read_operand(0) / call.read_operand(1).clamp_min(1);
  if (call.writes.size() > 1) {
    call.write_result(1, softmax.to(scalar_type(call.rank.setting.storage)));
  }
  call.write_result(0, softmax.to(call.read_operand(0).scalar_type()));
}

/// Writes the sum of a part's exponentials, scaled to the largest logit of all parts.
void part_sum(KernelCall& call) {
  call.write_result(0, call.read_operand(0) * (call.read_operand(1) - call.read_operand(2)).exp());
}

void sums(KernelCall& call) {
  const at::Tensor shifted = exact_logits(call, call.read_operand(0)) - call.read_operand(1);
  const at::Tensor target = target_logits(call, shifted, task_of(call).targets);
  const at::Tensor exponentials = shifted.exp();
  const at::Tensor sum = exponentials.sum(1, true);
  const bool fused = call.writes.size() == 2;
  if (fused) {
    call.write_result(0, at::cat({target, sum}, 1));
    call.write_result(1, exponentials.to(call.read_operand(0).scalar_type()));
    return;
  }
  call.write_result(0, target);
  call.write_result(1, sum);
  call.write_result(2, exponentials);
}

/// Adds the losses of tokens [rows, 1] to the step's loss.
void add_losses(const KernelCall& call, const Task& task, const at::Tensor& losses) {
  if (call.multi_token_depth() > 0) return;
  const at::Tensor predicts = task.targets.ge(0).unsqueeze(1);
  at::Tensor& total = call.rank.sums.loss;
  total.select(0, 0).add_(losses.mul(predicts).sum());
  total.select(0, 1).add_(predicts.sum());
}

/// Returns the gradient of the head's logits, computed in place from the probabilities. `logits` is
/// called only if the model caps them.
at::Tensor logit_gradient(const KernelCall& call, at::Tensor gradient, const Task& task,
                          const std::function<at::Tensor()>& logits) {
  const model::ModelArchitecture& model = *call.rank.setting.model;
  const Targets t = targets_here(call, task.targets);
  gradient.scatter_add_(1, t.local, -t.here.to(gradient.scalar_type()));
  gradient.mul_(task.weight);
  if (task.counted.defined()) gradient.mul_(task.counted);
  if (model.logit_cap > 0) {
    gradient.mul_(slope(call, logits()));
  } else if (model.logit_scale != 1) {
    gradient.mul_(model.logit_scale);
  }
  return gradient.to(scalar_type(call.rank.setting.storage));
}

/// Writes this rank's sum of exponentials, scaled to those of all ranks, from its logarithm.
void rescale(KernelCall& call) {
  call.write_result(0, (call.read_operand(0) - call.read_operand(1)).exp());
}

}  // namespace

void loss_forward(KernelCall& call) {
  switch (call.op.purpose) {
    case step::OperatorPurpose::kLargestLogit: return maximum(call);
    case step::OperatorPurpose::kOnChip: return rescale(call);
    case step::OperatorPurpose::kPartSoftmax: return part_softmax(call);
    case step::OperatorPurpose::kPartSum: return part_sum(call);
    default: return call.rank.setting.barriers > 0 ? part_sums(call) : sums(call);
  }
}

namespace {

/// Operands: the kept logits of a part (with one barrier its softmax), the target and the sum of
/// all parts, the largest logit of the part and of all, with one barrier the part's sum; the logits
/// if they are capped.
void part_gradient(KernelCall& call) {
  const Task task = task_of(call);
  const at::Tensor total = call.read_operand(2);
  add_losses(call, task, total.log() + call.read_operand(4) - call.read_operand(1));
  at::Tensor measure = (call.read_operand(3) - call.read_operand(4)).exp() / total;
  if (call.rank.setting.barriers == 1) measure = measure * call.read_operand(5);
  call.write_result(0, logit_gradient(call, call.read_operand(0).to(total.scalar_type()) * measure,
                                      task, [&] { return call.read_operand(5); }));
}

}  // namespace

void loss_backward(KernelCall& call) {
  if (call.rank.setting.barriers > 0) return part_gradient(call);
  const bool fused = call.rank.setting.kernels.fused_loss();
  const at::Tensor target = fused ? call.read_operand(1).narrow(1, 0, 1) : call.read_operand(1);
  const at::Tensor sum = fused ? call.read_operand(1).narrow(1, 1, 1) : call.read_operand(2);
  const Task task = task_of(call);
  add_losses(call, task, sum.log() - target);
  call.write_result(0, logit_gradient(call, call.read_operand(0).to(sum.scalar_type()) / sum, task,
                                      [&] { return call.read_operand(fused ? 2 : 3); }));
}

void read_target_rows_of_output_table(KernelCall& call) {
  const Targets t = targets_here(call, task_of(call).targets);
  const at::Tensor rows = call.operator_weight().index_select(0, t.local.squeeze(1));
  call.write_result(0, rows * t.here);
}

/// Operands: products of the part's softmax with the table, rows of targets, the part's sum and its
/// largest logit, the largest logit and the sum of all parts. Rows may be those of this tensor rank
/// only.
void part_row_gradient(KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  const at::Tensor total = call.read_operand(5);
  const Task task = task_of(call);
  at::Tensor measure =
      call.read_operand(2) * (call.read_operand(3) - call.read_operand(4)).exp() / total;
  at::Tensor weight = at::full_like(measure, task.weight * s.model->logit_scale);
  if (task.counted.defined()) weight.mul_(task.counted);
  const auto own = [&](const at::Tensor& all) {
    return s.sequence_parallel ? all.narrow(0, call.rank.place.tensor * s.rows, s.rows) : all;
  };
  const at::Tensor rows = call.read_operand(0) * own(measure) - call.read_operand(1);
  call.write_result(0, (rows * own(weight)).to(call.read_operand(0).scalar_type()));
}

namespace {

/// Rows of a block whose logits are computed at a time, in losses that never store all logits.
constexpr std::int64_t kRowsOnChip = 64;

/// Calls `visit` with the first row and the number of rows of each block.
template <class VisitorCallback>
void each_block(const KernelCall& call, const VisitorCallback& visit) {
  const std::int64_t rows = call.op.shape.rows;
  for (std::int64_t first = 0; first < rows; first += kRowsOnChip) {
    visit(first, std::min(kRowsOnChip, rows - first));
  }
}

/// Returns the head's logits of a block of rows of its input.
at::Tensor block_logits(const KernelCall& call, std::int64_t first, std::int64_t count) {
  const at::Tensor x = call.read_operand(0).narrow(0, first, count);
  const at::Tensor bias = call.bias();
  return bias.defined() ? at::addmm(bias, x, call.operator_weight().t())
                        : at::mm(x, call.operator_weight().t());
}

/// Returns the gradient of a block's logits; operands are the input, the largest logits and the
/// sums.
at::Tensor block_gradient(const KernelCall& call, std::int64_t first, std::int64_t count) {
  const auto rows = [&](const at::Tensor& all) {
    return all.defined() ? all.narrow(0, first, count) : all;
  };
  Task task = task_of(call);
  task.targets = rows(task.targets);
  task.counted = rows(task.counted);
  const at::Tensor logits = block_logits(call, first, count);
  const at::Tensor shifted = exact_logits(call, logits) - rows(call.read_operand(1));
  return logit_gradient(call, shifted.exp() / rows(call.read_operand(2)), task,
                        [&] { return logits; });
}

}  // namespace

void blockwise_fused_loss(KernelCall& call) {
  std::vector<at::Tensor> sums;
  std::vector<at::Tensor> targets;
  const at::Tensor all = task_of(call).targets;
  each_block(call, [&](std::int64_t first, std::int64_t count) {
    const at::Tensor logits = block_logits(call, first, count);
    keep_logits(call, logits, first);
    const at::Tensor exact = exact_logits(call, logits);
    sums.push_back(at::logsumexp(exact, 1, true).clamp_min(std::numeric_limits<float>::lowest()));
    targets.push_back(target_logits(call, exact, all.narrow(0, first, count)));
  });
  call.write_result(0, at::cat(sums));
  call.write_result(1, at::cat(targets));
  call.write_result(2, call.writes[0]->value.clone());
}

void on_chip_again(KernelCall& call) {
  const at::Tensor losses =
      call.read_operand(2).log() + call.read_operand(1) - call.read_operand(3);
  add_losses(call, task_of(call), losses);
  call.write_result(0, losses);
}

void on_chip_data_gradient(KernelCall& call) {
  std::vector<at::Tensor> rows;
  each_block(call, [&](std::int64_t first, std::int64_t count) {
    rows.push_back(at::mm(block_gradient(call, first, count), call.operator_weight()));
  });
  call.write_result(0, at::cat(rows));
}

void on_chip_weight_gradient(KernelCall& call) {
  const at::Tensor gradient = call.gradient();
  const at::Tensor bias = call.bias_gradient();
  each_block(call, [&](std::int64_t first, std::int64_t count) {
    const at::Tensor dy = block_gradient(call, first, count);
    accumulate_gradient(gradient, at::mm(dy.t(), call.read_operand(0).narrow(0, first, count)));
    if (bias.defined()) accumulate_gradient(bias, dy.to(bias.scalar_type()).sum(0));
  });
}

}  // namespace stepwright::runtime
