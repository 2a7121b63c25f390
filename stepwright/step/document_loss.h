#pragma once

#include "stepwright/step/block_build_context.h"

namespace stepwright::step {

// The loss as NeMo-RL computes it for a packed sequence of several documents: document by document,
// on a slice of the logits in fp32, by unfused PyTorch kernels (release 0.3: NVIDIA-NeMo/RL
// nemo_rl/algorithms/loss_functions.py, SequencePackingLossWrapper, ClippedPGLossFn and NLLLoss;
// nemo_rl/distributed/model_utils.py, DistributedLogprob). The host reads bounds, masks and metrics
// back (`.item()`), so that it cannot issue kernels ahead.

/// Appends a loss that is computed document by document from the head's logits, as in NeMo-RL;
/// keeps the softmax in fp32. If nothing is trained, the log-probabilities of all documents are
/// computed at once and then cut (from_parallel_logits_to_logprobs_packed_sequences).
void append_per_document_loss(ModelBlockBuildContext& e, TensorId logits);

/// Appends the gradient of the logits for a loss that is computed document by document. The
/// gradient of each document's slice is a tensor as large as all logits, zero outside the slice;
/// these tensors are added up (PyTorch, slice_backward).
TensorId append_per_document_loss_gradient(ModelBlockBuildContext& e);

}  // namespace stepwright::step
