#pragma once

#include "stepwright/huggingface/weights.h"
#include "stepwright/runtime/states/parameter_store.h"

namespace stepwright::runtime {

/// Gives this rank's parameters, and the biases by which its routers are balanced, the values of a
/// file, rounded to their types; optimizer states stay as they are.
void load_weights(ParameterStore& store, const huggingface::HuggingFaceWeights& weights);

/// Gives this rank's adapters the values of a file, rounded to their types.
void load_adapters(ParameterStore& store, const huggingface::HuggingFaceWeights& adapters);

}  // namespace stepwright::runtime
