#pragma once

#include "stepwright/huggingface/weights.h"
#include "stepwright/runtime/states/parameter_store.h"

namespace stepwright::runtime {

/// Sets this rank's weights, and the bias that balances each router's experts, to the values in a
/// Hugging Face directory, rounded to the types of the run. Adapters and optimizer moments keep
/// their values.
void load_weights(ParameterStore& store, const huggingface::HuggingFaceWeights& weights);

/// Sets this rank's adapter matrices (LoRA's A and B) to the values of a file, rounded to the types
/// of the run.
void load_adapters(ParameterStore& store, const huggingface::HuggingFaceWeights& adapters);

}  // namespace stepwright::runtime
