#pragma once

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

/// Runs a communication operator of a step program on real tensors. Fails with `kRuntime` if a
/// tensor does not have the size that the operator states.
void run_communication_operator(KernelCall& call);

/// Runs a message of context parallelism before or after an attention core.
void run_context_parallel_message(KernelCall& call);

/// Runs a message of expert parallelism, whose numbers of rows depend on the routing.
void run_expert_message(KernelCall& call);

/// Runs a message of data parallelism: parameters, gradients, or values that ranks share at the end
/// of a step (`carries_model_states`).
void run_data_parallel_message(KernelCall& call);

/// Runs a message of a sharded Adafactor update: completes row and column sums, or sums of squared
/// updates, over ranks.
void run_adafactor_message(KernelCall& call);

/// Runs a message of a sharded Muon update: assembles whole matrices on the ranks that
/// orthogonalize them, or returns their updates.
void run_muon_message(KernelCall& call);

/// Fails with `kRuntime` unless `elements` equals the number of elements that the operator states.
void check_payload_elements(const step::Operator& op, std::int64_t elements);

}  // namespace stepwright::runtime
