#pragma once

#include <vector>

#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The forward and the backward template of one block; `backward.restored` matches `forward.saved`.
struct BlockPair {
  Template forward;
  Template backward;
  // Of a block that positions do in passes: where those begin.
  std::vector<PassBegin> forward_passes = {};
  std::vector<PassBegin> backward_passes = {};
  /// Weight gradients that wait until all backwards of the position have ended; without operators:
  /// none do. `deferred.restored` matches `backward.saved`.
  Template deferred = {};
};

/// One transformer layer. `recompute` is kNone, kSelective (the attention core runs again in the
/// backward) or kFull (only the layer's input is kept, the whole forward runs again).
BlockPair build_layer(const Setting& setting, model::LayerClass layer,
                      const plan::LayerRecompute& recompute);

/// Token (and position) embedding, with its norm and dropout, and the encoder of images beside it;
/// `whole`: of the encoder's layers only the inputs are kept. `at_end` as in
/// `local_embedding_parameters`: positions that have a part of the table give what they find in it
/// to the one at the end, which gives them the gradient.
BlockPair build_embedding(const Setting& setting, bool whole, bool at_end = true);

/// Builds the final norm, the language-model head and the cross entropy. The head's weight
/// gradients wait if `Setting::defers_head`. `own_table` as in `local_head_parameters`. If
/// positions share the vocabulary, the last one (`at_end`) sends the normed rows to the others and
/// receives the sum of their gradients.
BlockPair build_head(const Setting& setting, bool own_table, bool at_end = true);

/// The multi-token layer `depth` (0-based) behind the head, with its loss. Takes in the rows of the
/// last layer, which the head hands on, or those of the multi-token layer before. `own_table` as in
/// `local_multi_token_parameters`.
BlockPair build_multi_token(const Setting& setting, std::int64_t depth, bool own_table,
                            const plan::LayerRecompute& recompute);

/// A message of the residual stream from or to the neighbouring chunk; a scattered one is gathered
/// over the tensor ranks when it has arrived.
Template build_send(const Setting& setting, schedule::Direction direction);
Template build_receive(const Setting& setting, schedule::Direction direction);
/// The residual stream from one chunk of a position to the next one: kept, and taken up again. No
/// operators.
Template build_hand_over(const Setting& setting);
Template build_take_over(const Setting& setting);

}  // namespace stepwright::step
