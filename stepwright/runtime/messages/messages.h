#pragma once

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

/// Performs a communication operator: what is sent, to whom and in which order is the operator's.
/// Fails with `kRuntime` when the tensor at hand is not the payload that the operator names.
void run_message(Call& call);

/// Messages around an attention core that context ranks share.
void run_context_message(Call& call);

/// Messages between ranks that hold experts, of which the rows are data.
void run_expert_message(Call& call);

/// Messages about parameters, gradients and what a step shares at its end (`is_of_states`).
void run_state_message(Call& call);

/// Messages about states that make sums of rows and columns of matrices, and of updates, whole.
void run_factored_message(Call& call);

/// Messages about states that make matrices whole where they are made orthogonal.
void run_matrix_message(Call& call);

/// Fails with `kRuntime` unless a payload has the operator's number of elements.
void check_payload(const step::Operator& op, std::int64_t elements);

}  // namespace stepwright::runtime
