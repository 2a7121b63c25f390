#pragma once

#include <vector>

#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The forward and the backward template of one block; `backward.restored` matches `forward.saved`.
struct BlockPair {
  Template forward;
  Template backward;
  // Where each pass begins, if the block is computed in several passes; empty: in one.
  std::vector<PassBegin> forward_passes = {};
  std::vector<PassBegin> backward_passes = {};
  /// Weight gradients that run after all backwards of the position; without operators: none are
  /// deferred. `deferred.restored` matches `backward.saved`.
  Template deferred = {};
};

/// Builds one transformer layer. `recompute` is kNone, kSelective (the attention core runs again in
/// the backward) or kFull (only the layer's input is kept, and the whole forward runs again).
BlockPair build_layer(const Setting& setting, model::LayerClass layer,
                      const plan::LayerRecompute& recompute);

/// Builds the token (and position) embedding with its norm and dropout, and the encoder of images
/// if the model has one; `whole`: the encoder's layers are fully recomputed. `at_end` as in
/// `local_embedding_parameters`: each position that holds a part of the table sends the rows that
/// it looks up to the position at the model's end, which sends it the gradient.
BlockPair build_embedding(const Setting& setting, bool whole, bool at_end = true);

/// Builds the final norm, the language-model head and the cross entropy. The head's weight
/// gradients are deferred if `Setting::defers_head` is true. `own_table` as in
/// `local_head_parameters`. If positions share the vocabulary, the last one (`at_end`) sends the
/// normed rows to the others and receives the sum of their gradients.
BlockPair build_head(const Setting& setting, bool own_table, bool at_end = true);

/// Builds the multi-token layer `depth` (0-based) behind the head, with its loss. Its input is the
/// rows of the last layer, which the head passes on, or of the previous multi-token layer.
/// `own_table` as in `local_multi_token_parameters`.
BlockPair build_multi_token(const Setting& setting, std::int64_t depth, bool own_table,
                            const plan::LayerRecompute& recompute);

/// Build a message of the residual stream to or from the neighbouring pipeline chunk. A message
/// scattered over the tensor ranks is gathered after it has arrived.
Template build_send(const Setting& setting, schedule::Direction direction);
Template build_receive(const Setting& setting, schedule::Direction direction);
/// Build templates without operators that pass the residual stream from one chunk of a position to
/// its next chunk: one keeps it, the other picks it up.
Template build_hand_over(const Setting& setting);
Template build_take_over(const Setting& setting);

}  // namespace stepwright::step
