// Cross entropy over a vocabulary that tensor ranks may share, in the passes of the program: the
// largest logit, the exponentials with their sum and the target's logit, the gradient.
#include <limits>

#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright {
namespace {

/// The first entry of the vocabulary that this rank holds.
std::int64_t first_entry(const Call& call) {
  return vocabulary_part(call.rank.setting, call.rank.place) * call.op.shape.columns;
}

/// The model's logits in the exact type: those of the head scaled and capped.
at::Tensor model_logits(const Call& call, const at::Tensor& logits) {
  const Architecture& model = *call.rank.setting.model;
  at::Tensor exact = logits.to(scalar_type(call.rank.setting.exact), false, true);
  if (model.logit_scale != 1) exact.mul_(model.logit_scale);
  if (model.logit_cap > 0) exact.div_(model.logit_cap).tanh_().mul_(model.logit_cap);
  return exact;
}

/// What the gradient of the head's logits has as a factor before that of the model's.
at::Tensor slope(const Call& call, const at::Tensor& logits) {
  const Architecture& model = *call.rank.setting.model;
  return (1 - (model_logits(call, logits) / model.logit_cap).square()) * model.logit_scale;
}

/// The same, entries that pad the vocabulary at minus infinity.
at::Tensor exact_logits(const Call& call, const at::Tensor& logits) {
  at::Tensor exact = model_logits(call, logits);
  const std::int64_t used = call.rank.setting.model->vocabulary - first_entry(call);
  if (used < exact.size(1)) {
    const std::int64_t first = std::max<std::int64_t>(0, used);
    exact.narrow(1, first, exact.size(1) - first).fill_(-std::numeric_limits<double>::infinity());
  }
  return exact;
}

/// What the tokens of a loss are to be, and what its gradient counts in that of the step.
struct Task {
  at::Tensor targets;
  at::Tensor counted;  ///< Undefined: all tokens.
  double weight = 1;   ///< Of each token.
};

/// Multi-token layers weigh the mean of their losses, each over the tokens that have a target.
Task task_of(const Call& call) {
  const Job& job = call.rank.job;
  const std::int64_t ahead = call.ahead();
  if (ahead == 0) {
    const at::Tensor& targets = call.batch->targets;
    const bool some = call.batch->documents.defined();
    return {targets, some ? targets.ge(0).unsqueeze(1) : at::Tensor(),
            1 / static_cast<double>(call.batch->step_targets)};
  }
  const at::Tensor& targets = call.batch->targets_ahead.at(static_cast<std::size_t>(ahead - 1));
  const auto predicted = static_cast<double>(job.sequences * (job.length - ahead));
  const double share =
      job.model.multi_token_weight / static_cast<double>(job.model.predicted_ahead());
  return {targets, targets.ge(0).unsqueeze(1), share / predicted};
}

struct Targets {
  at::Tensor local;  ///< [tokens, 1], clamped to the entries here.
  at::Tensor here;   ///< [tokens, 1], whether the target is among them.
};

Targets targets(const Call& call) {
  const std::int64_t width = call.op.shape.columns;
  const at::Tensor local = (task_of(call).targets - first_entry(call)).unsqueeze(1);
  return {local.clamp(0, width - 1), local.ge(0).logical_and(local.lt(width))};
}

void maximum(Call& call) {
  auto* kept = call.rank.logits;
  if (kept != nullptr && call.ahead() == 0)
    (*kept)[call.micro_batch] = model_logits(call, call.read(0)).to(at::kDouble);
  at::Tensor largest = exact_logits(call, call.read(0)).amax(1, true);
  // A rank with nothing but padding must not bring in an infinity.
  call.write(0, largest.clamp_min(std::numeric_limits<float>::lowest()));
}

void sums(Call& call) {
  const at::Tensor shifted = exact_logits(call, call.read(0)) - call.read(1);
  const Targets t = targets(call);
  const at::Tensor target =
      at::where(t.here, shifted.gather(1, t.local), at::zeros({}, shifted.options()));
  const at::Tensor exponentials = shifted.exp();
  const at::Tensor sum = exponentials.sum(1, true);
  const bool fused = call.writes.size() == 2;
  if (fused) {
    call.write(0, at::cat({target, sum}, 1));
    call.write(1, exponentials.to(call.read(0).scalar_type()));
    return;
  }
  call.write(0, target);
  call.write(1, sum);
  call.write(2, exponentials);
}

}  // namespace

void loss_forward(Call& call) {
  call.op.purpose == Purpose::kLargestLogit ? maximum(call) : sums(call);
}

void loss_backward(Call& call) {
  const bool fused = call.rank.setting.kernels.fused_cross_entropy;
  const Architecture& model = *call.rank.setting.model;
  const at::Tensor target = fused ? call.read(1).narrow(1, 0, 1) : call.read(1);
  const at::Tensor sum = fused ? call.read(1).narrow(1, 1, 1) : call.read(2);
  const Task task = task_of(call);
  if (call.ahead() == 0) {
    const at::Tensor predicts = task.targets.ge(0).unsqueeze(1);
    at::Tensor& total = call.rank.sums.loss;
    total.select(0, 0).add_((sum.log() - target).mul(predicts).sum());
    total.select(0, 1).add_(predicts.sum());
  }
  at::Tensor gradient = call.read(0).to(sum.scalar_type()) / sum;
  const Targets t = targets(call);
  gradient.scatter_add_(1, t.local, -t.here.to(gradient.scalar_type()));
  gradient.mul_(task.weight);
  if (task.counted.defined()) gradient.mul_(task.counted);
  if (model.logit_cap > 0) {
    gradient.mul_(slope(call, call.read(fused ? 2 : 3)));
  } else if (model.logit_scale != 1) {
    gradient.mul_(model.logit_scale);
  }
  call.write(0, gradient.to(scalar_type(call.rank.setting.storage)));
}

}  // namespace stepwright
