#include "stepwright/runtime/kernels/recurrence.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace stepwright::runtime {
namespace {

/// The inputs at one token: [batch, heads, ...], where the last dimensions are those of a state.
struct Token {
  at::Tensor query;     ///< Query of a token, [.., state, 1].
  at::Tensor key;       ///< Key of a token, [.., state, 1].
  at::Tensor value;     ///< Value of a token, [.., 1, dimension].
  at::Tensor strength;  ///< Strength of a token, [.., 1, 1].
  at::Tensor decay;     ///< Decay of a token, [.., state or 1, 1].
};

Token token(const LinearRecurrenceInputs& in, std::int64_t t) {
  return {.query = in.queries.select(1, t).unsqueeze(-1),
          .key = in.keys.select(1, t).unsqueeze(-1),
          .value = in.values.select(1, t).unsqueeze(-2),
          .strength = in.strengths.select(1, t).unsqueeze(-1).unsqueeze(-1),
          .decay = in.decays.select(1, t).unsqueeze(-1)};
}

/// One step of the recurrence: the decayed state P (`left`), the new value before it is multiplied
/// by the strength (`fresh`), and the state after the step.
struct Step {
  at::Tensor left;
  at::Tensor fresh;
  at::Tensor state;
};

Step step(const LinearRecurrenceInputs& in, const Token& now, const at::Tensor& before) {
  const at::Tensor left = before * now.decay;
  const at::Tensor fresh = in.corrects ? now.value - (left * now.key).sum(-2, true) : now.value;
  return {left, fresh, left + now.key * (now.strength * fresh)};
}

at::Tensor first_state(const LinearRecurrenceInputs& in) {
  return at::zeros({in.keys.size(0), in.keys.size(2), in.keys.size(3), in.values.size(3)},
                   in.values.options());
}

}  // namespace

at::Tensor run_linear_recurrence(const LinearRecurrenceInputs& in) {
  at::Tensor state = first_state(in);
  std::vector<at::Tensor> out;
  for (std::int64_t t = 0; t < in.values.size(1); ++t) {
    const Token now = token(in, t);
    state = step(in, now, state).state;
    out.push_back((state * now.query).sum(-2));
  }
  return at::stack(out, 1);
}

LinearRecurrenceInputs linear_recurrence_gradients(const LinearRecurrenceInputs& in,
                                                   const at::Tensor& d_out) {
  const std::int64_t length = in.values.size(1);
  std::vector<at::Tensor> states{first_state(in)};
  for (std::int64_t t = 0; t < length; ++t) {
    states.push_back(step(in, token(in, t), states.back()).state);
  }
  LinearRecurrenceInputs d{.queries = at::empty_like(in.queries),
                           .keys = at::empty_like(in.keys),
                           .values = at::empty_like(in.values),
                           .strengths = at::empty_like(in.strengths),
                           .decays = at::empty_like(in.decays)};
  at::Tensor d_state = at::zeros_like(states.front());
  for (std::int64_t t = length; t-- > 0;) {
    const Token now = token(in, t);
    const at::Tensor& before = states[static_cast<std::size_t>(t)];
    const Step made = step(in, now, before);
    const at::Tensor d_result = d_out.select(1, t).unsqueeze(-2);
    d.queries.select(1, t).copy_((made.state * d_result).sum(-1));
    d_state = d_state + now.query * d_result;
    const at::Tensor d_added = (d_state * now.key).sum(-2, true);
    const at::Tensor d_fresh = d_added * now.strength;
    at::Tensor d_key = (d_state * (now.strength * made.fresh)).sum(-1);
    if (in.corrects) {
      d_key = d_key - (made.left * d_fresh).sum(-1);
      d_state = d_state - now.key * d_fresh;
    }
    d.keys.select(1, t).copy_(d_key);
    d.values.select(1, t).copy_(d_fresh.squeeze(-2));
    d.strengths.select(1, t).copy_((d_added * made.fresh).sum(-1).squeeze(-1));
    const at::Tensor d_decay = (d_state * before).sum(-1);
    d.decays.select(1, t).copy_(in.decays.size(3) == 1 ? d_decay.sum(-1, true) : d_decay);
    d_state = d_state * now.decay;
  }
  return d;
}

}  // namespace stepwright::runtime
