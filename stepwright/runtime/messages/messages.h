#pragma once

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

/// Runs a communication operator, which defines the data, the ranks and the order of the message.
/// Fails with `kRuntime` when the tensor is not the payload that the operator states.
void run_message(Call& call);

/// Runs a message around an attention core that context ranks share.
void run_context_message(Call& call);

/// Runs a message between ranks that hold experts, whose numbers of rows depend on the data.
void run_expert_message(Call& call);

/// Runs a message about parameters, gradients and the values that a step shares at its end
/// (`is_of_states`).
void run_state_message(Call& call);

/// Runs a message that completes the sums of rows and columns of matrices, and of updates, over
/// ranks.
void run_factored_message(Call& call);

/// Runs a message that assembles matrices on the ranks that make them orthogonal.
void run_matrix_message(Call& call);

/// Fails with `kRuntime` unless a payload has the operator's number of elements.
void check_payload(const step::Operator& op, std::int64_t elements);

}  // namespace stepwright::runtime
