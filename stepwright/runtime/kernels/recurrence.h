#pragma once

#include <ATen/ATen.h>

namespace stepwright::runtime {

/// A state [state, dimension] of each head, carried along a sequence:
///
///     P_t = a_t S_(t-1)      u_t = b_t (v_t - P_t' k_t)      S_t = P_t + k_t u_t'      o_t = S_t'
///     q_t
///
/// with decays a, strengths b, keys k, values v, queries q and results o; without `corrects` the
/// state's value for a key is not subtracted from the new value: u_t = b_t v_t. The gated delta
/// rule (2412.06464) corrects, Mamba (2312.00752) and Mamba-2 (2405.21060) do not.
struct Recurrence {
  at::Tensor queries;    ///< Queries q, [batch, length, heads, state].
  at::Tensor keys;       ///< Keys k, [batch, length, heads, state].
  at::Tensor values;     ///< Values v, [batch, length, heads, dimension].
  at::Tensor strengths;  ///< Strengths b, [batch, length, heads].
  at::Tensor decays;     ///< Decays a, [batch, length, heads, state or 1].
  bool corrects = false;
};

/// Returns the results o, [batch, length, heads, dimension]; states begin at zero. Computes token
/// by token: simple, not fast.
at::Tensor run_recurrence(const Recurrence& in);

/// Returns the gradients of all inputs of `run_recurrence`, in their shapes.
Recurrence recur_backward(const Recurrence& in, const at::Tensor& d_out);

}  // namespace stepwright::runtime
