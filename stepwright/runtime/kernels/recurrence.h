#pragma once

#include <ATen/ATen.h>

namespace stepwright::runtime {

/// Inputs of a linear recurrence that carries a state S [state, dimension] along a sequence in each
/// head:
///
///     P_t = a_t S_(t-1)              u_t = b_t (v_t - P_t' k_t)
///     S_t = P_t + k_t u_t'           o_t = S_t' q_t
///
/// with decays a, strengths b, keys k, values v, queries q and results o. If `corrects` is false,
/// the state's old value for a key is not subtracted: u_t = b_t v_t. The gated delta rule
/// (2412.06464) corrects, Mamba (2312.00752) and Mamba-2 (2405.21060) do not.
struct LinearRecurrenceInputs {
  at::Tensor queries;    ///< Queries q, [batch, length, heads, state].
  at::Tensor keys;       ///< Keys k, [batch, length, heads, state].
  at::Tensor values;     ///< Values v, [batch, length, heads, dimension].
  at::Tensor strengths;  ///< Strengths b with which new values are written, [batch, length, heads].
  /// Factors a by which the state decays, [batch, length, heads, state or 1].
  at::Tensor decays;
  bool corrects = false;
};

/// Computes the results o of a linear recurrence, [batch, length, heads, dimension]; states begin
/// at zero. Works token by token: simple, not fast.
at::Tensor run_linear_recurrence(const LinearRecurrenceInputs& in);

/// Returns the gradients of the inputs of a linear recurrence, in the shapes of these inputs.
/// `d_out`: gradient of the results.
LinearRecurrenceInputs linear_recurrence_gradients(const LinearRecurrenceInputs& in,
                                                   const at::Tensor& d_out);

}  // namespace stepwright::runtime
