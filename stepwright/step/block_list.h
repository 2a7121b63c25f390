#pragma once

#include <map>
#include <vector>

#include "stepwright/schedule/facts.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/pair.h"
#include "stepwright/step/sharding.h"

namespace stepwright::step {

/// A block (layer, embedding or head) of a pipeline chunk: the templates of its forward and
/// backward, and the sizes of its parameters.
struct ModelBlock {
  TemplateId forward = -1;
  /// Template of the block's backward: data gradients alone if the backward is split into data and
  /// weight gradients, else the whole backward; -1: no backward.
  TemplateId backward = -1;
  /// Template of the block's weight gradients, if the backward is split into data and weight
  /// gradients; -1: not split.
  TemplateId weight = -1;
  /// Template of the block's whole backward, data and weight gradients together; -1: none.
  TemplateId whole = -1;
  /// Template of the block's weight gradients that run after all backwards of the pipeline stage;
  /// -1: none.
  TemplateId deferred = -1;
  /// Templates of the block's passes over the vocabulary, in order, if the schedule runs the block
  /// (embedding or head) in several passes; empty: the block has one pass.
  std::vector<TemplateId> passes;
  /// Direction (such as an embedding look-up) of each template in `passes`: the kind of schedule
  /// entry that runs it.
  std::vector<schedule::Direction> directions;
  std::int32_t layer = -1;
  /// Number that identifies the block in the model: the layer's index, a number after those of the
  /// layers for a multi-token layer, `kEmbeddingBlockNumber` or `kHeadBlockNumber`.
  std::int32_t unit = -1;
  model::LayerGradientFlow gradients = model::LayerGradientFlow::kThrough;
  ModelBlockParameterCounts size;
};

/// Collects the templates of a program (each the operators of one block in one direction) and
/// stores equal ones once.
class OperatorTemplateStore {
 public:
  /// Creates an empty store. `form` says whether backwards of layers are split into data and weight
  /// gradients. Backwards of the embedding (which has no data gradients), the head and multi-token
  /// layers (whose logits are too large to keep until later) are never split.
  OperatorTemplateStore(const StepBuildSettings& setting, schedule::BackwardSplitting form)
      : s_(setting), form_(form) {}

  /// Adds the templates of the token embedding. `at_end`: the pipeline stage is the first of the
  /// model; false: it holds only a part of the vocabulary table.
  ModelBlock embedding(const plan::LayerRecompute& recompute, bool at_end = true);
  ModelBlock head(bool own_table, bool at_end = true);
  /// Adds the templates of a language-model head on a rank that also holds the embedding's table
  /// (tied weights). The table's gradients are reduced after both blocks' backwards, so this head
  /// defers no weight gradient.
  ModelBlock add_tied_head_templates();
  ModelBlock multi_token(std::int64_t depth, bool own_table, const plan::LayerRecompute& recompute);
  ModelBlock layer(std::int64_t index, const plan::LayerRecompute& recompute);
  TemplateId send(schedule::Direction direction);
  TemplateId receive(schedule::Direction direction);
  /// Returns the template that leaves the residual stream for the next chunk on the same rank.
  TemplateId template_handing_over_residual_stream();
  /// Returns the template that picks up the residual stream of the previous chunk on the same rank.
  TemplateId template_receiving_residual_stream();
  /// Returns the template that gathers a block's sharded parameters before a use; -1 if there is
  /// nothing to gather.
  TemplateId add_parameter_gather_template(const ShardingBuilder& sharding,
                                           const ModelBlockParameterCounts& unit, bool first_use,
                                           bool forward);
  /// True if FSDP copies this block's parameters out of the buffer of their all-gather during the
  /// forward. False only for a head whose loss runs outside the model's forward or in tiles: a loss
  /// in tiles reads the head's weight, which the root module gathers before the layers (trl 1.16.0
  /// trl/trainer/utils.py, add_fused_lm_head).
  [[nodiscard]] bool copies_parameters_from_gathered(const ModelBlock& block) const {
    const bool by_model = s_.kernels.loss_keeps == plan::LossSavedTensors::kTiles;
    return block.unit != kHeadBlockNumber || (s_.loss_in_forward && !by_model);
  }
  /// Returns the template that reduces the gradients of a bucket of blocks over the data-parallel
  /// ranks; -1 if there is nothing to reduce.
  TemplateId add_gradient_reduction_template(const ShardingBuilder& sharding,
                                             const std::vector<ModelBlockParameterCounts>& bucket,
                                             GradientReduction how);
  /// True if a bucket consists of the head alone and the loss has already reduced the head's
  /// gradients. `units`: numbers of the bucket's blocks.
  [[nodiscard]] bool is_head_reduced_by_loss(const std::vector<std::int32_t>& units) const {
    return s_.copies_gradients && s_.kernels.loss_keeps == plan::LossSavedTensors::kGradients &&
           units == std::vector<std::int32_t>{kHeadBlockNumber};
  }
  TemplateId add(OperatorTemplate piece);
  /// Adds the template in which the operators of a forward and a backward of two micro-batches are
  /// interleaved (`step/pair.h`); `seconds` estimates each operator's time, to choose the order.
  TemplateId add_interleaved_template_pair(TemplateId forward, TemplateId backward,
                                           const OperatorSeconds& seconds);

  [[nodiscard]] const std::vector<OperatorTemplate>& templates() const { return templates_; }
  std::vector<OperatorTemplate> take() { return std::move(templates_); }

 private:
  ModelBlock add(ModelBlockTemplatePair pair, schedule::BackwardSplitting form);
  ModelBlock head(ModelBlockTemplatePair pair);
  ModelBlock add_passes(const ModelBlockTemplatePair& pair);
  const StepBuildSettings& s_;
  schedule::BackwardSplitting form_;
  std::vector<OperatorTemplate> templates_;
  std::map<std::pair<model::LayerClass, plan::LayerRecompute>, ModelBlock> layers_;
  std::map<std::pair<bool, schedule::Direction>, TemplateId> messages_;
  std::map<std::pair<TemplateId, TemplateId>, TemplateId> pairs_;
  TemplateId hand_over_ = -1;
  TemplateId take_over_ = -1;
  std::map<std::vector<std::int64_t>, TemplateId> gathers_;
  std::map<std::vector<std::int64_t>, TemplateId> reductions_;
};

/// How a chunk is connected to the previous or next chunk of the model: not at all, by a message,
/// or on the same pipeline stage.
enum class ModelChunkConnection : std::uint8_t { kNone, kMessage, kSamePosition };

/// Builds the sequences of one pipeline chunk: forward, backward and, if backwards are split,
/// weight gradients of one micro-batch, each with the data-parallel messages that overlap it.
class ModelChunkSequenceBuilder {
 public:
  /// The model chunk on a pipeline rank whose sequences of operators are built, and its connections
  /// to the previous (`before`) and next (`behind`) chunk of the model.
  struct PipelineChunkContext {
    const std::vector<ModelBlock>& blocks;
    std::int32_t index = 0;  ///< Index of the chunk among the chunks of its pipeline stage.
    ModelChunkConnection before = ModelChunkConnection::kNone;
    ModelChunkConnection behind = ModelChunkConnection::kNone;
  };
  ModelChunkSequenceBuilder(OperatorTemplateStore& store, const ShardingBuilder& sharding,
                            const plan::Plan& plan, const PipelineChunkContext& chunk)
      : store_(store), sharding_(sharding), plan_(plan), chunk_(chunk) {}

  /// Builds the forward of one micro-batch. `first`: it is the first forward of the step and
  /// includes the gathers of parameters that the previous step postponed.
  [[nodiscard]] TemplateSequence forward(bool first);
  /// Builds the backward of one micro-batch, data and weight gradients together. `last`: it is the
  /// last backward of the step and includes the reductions of gradients that end the step.
  [[nodiscard]] TemplateSequence backward(bool last);
  /// Builds the data gradients of one micro-batch, for backwards that are split into data and
  /// weight gradients. `last`: they are the last of the step.
  [[nodiscard]] TemplateSequence data_gradients(bool last);
  [[nodiscard]] TemplateSequence weight_gradients(bool last);
  /// Builds the weight gradients that the chunk's head deferred until after all backwards, and
  /// their reduction.
  [[nodiscard]] TemplateSequence deferred_head_gradient_sequence(bool last);

  /// Builds the look-up of embeddings that all pipeline stages, each with a part of the vocabulary,
  /// run at the same time. The chunk has one block.
  [[nodiscard]] TemplateSequence embedding_lookup_sequence(bool first);
  /// Builds the head with its loss, which all pipeline ranks run at the same time, each for its
  /// part of the vocabulary.
  [[nodiscard]] TemplateSequence predict(bool first, bool last);
  [[nodiscard]] TemplateSequence embedding_gradient_sequence(bool last);
  /// Builds pass number `which` of a block (embedding or head) that the schedule runs in several
  /// passes.
  [[nodiscard]] TemplateSequence build_vocabulary_pass_sequence(std::size_t which, bool first,
                                                                bool last);

 private:
  struct Bucket {
    std::vector<ModelBlockParameterCounts> units;
    std::vector<OperatorTemplateInputSource> sources;
    std::vector<std::int32_t> ids;
    std::int64_t elements = 0;
    std::int32_t after = -1;
  };
  TemplateSequence backward(bool last, bool whole);
  /// Builds a sequence of postponed weight gradients: the template `part` (`ModelBlock::weight` or
  /// `ModelBlock::deferred`) of every block of the chunk, the last block first.
  TemplateSequence postponed_weight_gradients(schedule::Direction direction,
                                              TemplateId ModelBlock::* part, bool last);
  /// State while a sequence is built. `source`: index of the item whose output is the residual
  /// stream (-1: none yet); `done`: indices of the items of all blocks added so far.
  struct TemplateSequenceBuildState {
    std::int32_t source = -1;
    std::vector<std::int32_t> done;
  };
  std::int32_t append_gather(TemplateSequence& sequence, const ModelBlock& block, bool first,
                             const TemplateSequenceBuildState& progress);
  void append_forward(TemplateSequence& sequence, const ModelBlock& block, bool first,
                      TemplateSequenceBuildState& progress);
  void append_block(TemplateSequence& sequence, const TemplateSequenceItem& block,
                    std::int32_t gather, TemplateSequenceBuildState& progress);
  void append_source(TemplateSequence& sequence, TemplateSequenceBuildState& progress,
                     ModelChunkConnection from);
  void append_target(TemplateSequence& sequence, std::int32_t source, ModelChunkConnection to);
  void append_reduction(TemplateSequence& sequence, Bucket& bucket, bool last);
  void collect(TemplateSequence& sequence, Bucket& bucket, const ModelBlock& block,
               const TemplateSequenceBuildState& progress, bool last);
  [[nodiscard]] bool ends_step(bool last) const;
  /// True if the gradient of the loss reaches any block of this chunk.
  [[nodiscard]] bool loss_gradient_reaches_chunk() const;
  /// True if the gradient of the loss continues to the previous chunk of the model.
  [[nodiscard]] bool gradient_goes_on() const;

  OperatorTemplateStore& store_;
  const ShardingBuilder& sharding_;
  const plan::Plan& plan_;
  PipelineChunkContext chunk_;
};

/// Merges the forward of one micro-batch and the backward of another into one sequence: the first
/// layer of the forward is interleaved with the first layer of the backward in one template, and so
/// on. Blocks before, between and after the paired layers keep their order, the backward's first.
TemplateSequence merge_forward_with_backward(OperatorTemplateStore& store,
                                             const TemplateSequence& forward,
                                             const TemplateSequence& backward,
                                             const OperatorSeconds& seconds);

}  // namespace stepwright::step
