#pragma once

#include "stepwright/step/layer_part.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

/// A backward template split in two: the data gradients, for which neighbouring pipeline stages
/// wait, and the weight gradients, for which only the update waits. `weight` restores what `data`
/// saves; `data` restores what the whole backward restores.
struct SplitBackwardTemplates {
  OperatorTemplate data;
  /// Template of the weight gradients; without operators if none can be postponed.
  OperatorTemplate weight;
};

/// Splits a backward template into data and weight gradients. The weight part gets the operators
/// that compute weight gradients, and the messages whose results only they read (inputs gathered
/// again), except if the data part reads their results or later overwrites their inputs. Gradients
/// to be reduced are outputs of the weight part. `part`: only weight gradients of this part of a
/// layer may be postponed; kNone: all.
SplitBackwardTemplates split_backward(const OperatorTemplate& backward,
                                      LayerPart part = LayerPart::kNone);

}  // namespace stepwright::step
