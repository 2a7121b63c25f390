#pragma once

#include <vector>

#include "stepwright/step/layer.h"

namespace stepwright::step {

/// A pass of a block: operators that the schedule gives a slot of their own.
struct VocabularyPass {
  schedule::Direction direction{};
  Template piece;
};

/// Splits both templates of a block at the beginnings of their passes. Each pass restores what the
/// previous one saved. A tensor that a message writes stays until the next pass, which starts when
/// the message has ended. The templates must not gather parameters or reduce gradients.
std::vector<VocabularyPass> cut_passes(const BlockPair& pair);

/// `uses_parameters`: true if an operator uses a parameter; `makes_gradients`: true if one computes
/// a parameter's gradient.
bool uses_parameters(const Template& piece);
bool makes_gradients(const Template& piece);

}  // namespace stepwright::step
