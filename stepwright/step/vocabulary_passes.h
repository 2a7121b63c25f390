#pragma once

#include <vector>

#include "stepwright/step/layer.h"

namespace stepwright::step {

/// A pass of the embedding or the head, if pipeline stages split the vocabulary: operators that
/// have an entry of their own in the schedule.
struct VocabularyPass {
  schedule::Direction direction{};
  OperatorTemplate piece;
};

/// Splits the forward and backward template of the embedding or the head into passes, each of which
/// the schedule runs in a slot of its own. Each pass restores what the previous one saved. A tensor
/// that a message writes stays until the next pass, which starts when the message has ended. The
/// templates must not gather parameters or reduce gradients.
std::vector<VocabularyPass> split_vocabulary_passes(const ModelBlockTemplatePair& pair);

/// True if at least one operator of a template (operators of a block in one direction) uses a
/// parameter.
bool template_uses_parameters(const OperatorTemplate& piece);
/// True if at least one operator of a template (operators of a block in one direction) computes a
/// parameter's gradient.
bool template_computes_gradients(const OperatorTemplate& piece);

}  // namespace stepwright::step
