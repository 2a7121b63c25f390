#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

// The loss as NeMo-RL takes it of a sequence of several documents: of each by itself, a slice of
// the logits in fp32, by kernels of PyTorch that nothing fuses (release 0.3: NVIDIA-NeMo/RL
// nemo_rl/algorithms/loss_functions.py, SequencePackingLossWrapper, ClippedPGLossFn and NLLLoss;
// nemo_rl/distributed/model_utils.py, DistributedLogprob). The host reads bounds, masks and metrics
// back (`.item()`), so that it issues nothing ahead.

/// From the head's logits to the loss; keeps the softmax in fp32. Where nothing is trained the
/// log-probabilities of all documents are taken at once, then cut
/// (from_parallel_logits_to_logprobs_packed_sequences).
void document_loss(Emit& e, TensorId logits);

/// The gradient of the logits. That of each slice is a tensor as large as all logits, zero but for
/// the slice, and those are added up (PyTorch, slice_backward).
TensorId document_loss_gradient(Emit& e);

}  // namespace stepwright::step
