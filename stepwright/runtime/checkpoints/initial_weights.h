#pragma once

#include "stepwright/huggingface/weights.h"
#include "stepwright/runtime/states/parameter_store.h"

namespace stepwright::runtime {

/// Sets this rank's parameters, and the biases by which its routers are balanced, to the values of
/// a file, rounded to their types; optimizer states are not changed.
void load_weights(ParameterStore& store, const huggingface::HuggingFaceWeights& weights);

/// Sets this rank's adapters to the values of a file, rounded to their types.
void load_adapters(ParameterStore& store, const huggingface::HuggingFaceWeights& adapters);

}  // namespace stepwright::runtime
