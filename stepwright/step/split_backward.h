#pragma once

#include "stepwright/step/layer_part.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

/// A backward in two: what its neighbours wait for, and the weight gradients, which nothing but the
/// update waits for. `weight.restored` matches `data.saved`; `data.restored` is the backward's.
struct SplitBackward {
  Template data;
  Template weight;  ///< Weight gradients; without operators when nothing can wait.
};

/// Splits a backward template. The weight part gets the operators that make weight gradients and
/// the messages whose results only they read (inputs gathered again), except where the data part
/// reads what they write or later writes over what they read. Gradients that leave do so with the
/// weight part. `part`: of the operators that make weight gradients those of this part of a layer
/// alone may wait; kNone: all.
SplitBackward split_backward(const Template& backward, LayerPart part = LayerPart::kNone);

}  // namespace stepwright::step
