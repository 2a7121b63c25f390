#pragma once

#include "stepwright/step/layer_part.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

/// A backward split in two: the part that neighbours wait for, and the weight gradients, which only
/// the update waits for. `weight.restored` matches `data.saved`; `data.restored` is the backward's.
struct SplitBackward {
  Template data;
  Template weight;  ///< Weight gradients; without operators if none can be postponed.
};

/// Splits a backward template. The weight part gets the operators that compute weight gradients,
/// and the messages whose results only they read (inputs gathered again), except if the data part
/// reads their results or later overwrites their inputs. Gradients to be reduced are outputs of the
/// weight part. `part`: only weight gradients of this part of a layer may be postponed; kNone: all.
SplitBackward split_backward(const Template& backward, LayerPart part = LayerPart::kNone);

}  // namespace stepwright::step
