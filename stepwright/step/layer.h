#pragma once

#include <vector>

#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The forward and the backward template (lists of operators) of one block (layer, embedding or
/// head); the backward restores, in the same order, the tensors that the forward saves.
struct ModelBlockTemplatePair {
  OperatorTemplate forward;
  OperatorTemplate backward;
  // Where each pass begins, if the block is computed in several passes; empty: in one.
  std::vector<VocabularyPassBegin> forward_passes = {};
  std::vector<VocabularyPassBegin> backward_passes = {};
  /// Template of weight gradients that run after all backwards of the pipeline stage; without
  /// operators: none are deferred. It restores, in the same order, what the backward saves.
  OperatorTemplate deferred = {};
};

/// Builds the forward and backward of one transformer layer. `recompute`: the modules that run
/// again in the backward, or the whole layer, which then keeps only its input.
ModelBlockTemplatePair build_layer_templates(const StepBuildSettings& setting,
                                             model::LayerClass layer,
                                             const plan::LayerRecompute& recompute);

/// Builds the forward and backward of the token (and position) embedding with its norm and dropout,
/// and of the image encoder if the model has one; `whole`: the encoder's layers are fully
/// recomputed. If pipeline stages share the embedding table, the first one (`at_end`) gets the rows
/// that the others look up, and sends them the gradient.
ModelBlockTemplatePair build_embedding_templates(const StepBuildSettings& setting, bool whole,
                                                 bool at_end = true);

/// Builds the forward and backward of the final norm, the language-model head and the cross
/// entropy. `own_table`: with tied weights, this rank has its own copy of the embedding's table.
/// The head's weight gradients are deferred if `StepBuildSettings::defers_head_weight_gradients` is
/// true. If pipeline stages share the vocabulary, the last one (`at_end`) sends the normed rows to
/// the others and receives the sum of their gradients.
ModelBlockTemplatePair build_head_templates(const StepBuildSettings& setting, bool own_table,
                                            bool at_end = true);

/// Builds the forward and backward of the multi-token prediction layer `depth` (0-based) behind the
/// head, with its loss. Its input is the rows of the last layer, which the head passes on, or of
/// the previous multi-token layer. `own_table`: the first such layer holds a copy of the
/// embedding's table.
ModelBlockTemplatePair build_multi_token_layer_templates(const StepBuildSettings& setting,
                                                         std::int64_t depth, bool own_table,
                                                         const plan::LayerRecompute& recompute);

/// Builds the send of the residual stream (or its gradient) to the neighbouring pipeline chunk.
OperatorTemplate build_pipeline_send_template(const StepBuildSettings& setting,
                                              schedule::Direction direction);
/// Builds the receive of the residual stream (or its gradient) from the neighbouring pipeline
/// chunk. A message scattered over the tensor ranks is gathered after it has arrived.
OperatorTemplate build_pipeline_receive(const StepBuildSettings& setting,
                                        schedule::Direction direction);
/// Builds a template without operators that leaves the residual stream for the next chunk on the
/// same rank.
OperatorTemplate build_residual_hand_over_template(const StepBuildSettings& setting);
/// Builds an empty template that picks up what `build_residual_hand_over_template` left.
OperatorTemplate build_residual_take_over(const StepBuildSettings& setting);

}  // namespace stepwright::step
