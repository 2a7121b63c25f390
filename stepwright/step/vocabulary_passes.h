#pragma once

#include <vector>

#include "stepwright/step/layer.h"

namespace stepwright::step {

/// A part of a block that has a turn of its own.
struct VocabularyPass {
  schedule::Direction direction{};
  Template piece;
};

/// Cuts both templates of a block where its passes begin. A pass restores what the one before it
/// has saved; what a message writes stays until the next pass, which comes when it has ended.
/// Neither gathers parameters nor reduces gradients stand in the templates.
std::vector<VocabularyPass> cut_passes(const BlockPair& pair);

/// Whether a template uses parameters, and whether it makes gradients of them.
bool uses_parameters(const Template& piece);
bool makes_gradients(const Template& piece);

}  // namespace stepwright::step
