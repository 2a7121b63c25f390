#pragma once

#include <map>
#include <vector>

#include "stepwright/schedule/facts.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/pair.h"
#include "stepwright/step/sharding.h"

namespace stepwright::step {

/// One block of a chunk: its templates and its parameters.
struct Block {
  TemplateId forward = -1;
  /// Template of the data gradients; -1: none, or the backward is not split.
  TemplateId backward = -1;
  /// Template of the weight gradients, if the backward is split; -1: not split.
  TemplateId weight = -1;
  TemplateId whole = -1;  ///< Template of data and weight gradients together; -1: none.
  /// Template of weight gradients that run after all backwards of the position; -1: none.
  TemplateId deferred = -1;
  /// Templates of the passes, in order, if the block is computed in several passes; empty: in one.
  std::vector<TemplateId> passes;
  std::vector<schedule::Direction> directions;  ///< Direction of each of `passes`.
  std::int32_t layer = -1;
  std::int32_t unit = -1;  ///< Number of the block, as in `Item::units`.
  model::GradientPath gradients = model::GradientPath::kThrough;
  UnitSize size;
};

/// Collects the templates of a program and stores equal ones once.
class TemplateStore {
 public:
  /// A store that splits the backwards of layers into data and weight gradients if `form` says so.
  /// Backwards of the embedding (which has no data gradients), the head and multi-token layers
  /// (whose logits are too large to keep until later) are never split.
  TemplateStore(const Setting& setting, schedule::BackwardForm form) : s_(setting), form_(form) {}

  /// Adds the block of the token embedding; `at_end` as in `build_embedding`.
  Block embedding(const plan::LayerRecompute& recompute, bool at_end = true);
  Block head(bool own_table, bool at_end = true);
  /// Adds the block of a head on the rank that holds the embedding's table too. The table's
  /// gradients are reduced after both blocks' backwards, so this head defers no weight gradient.
  Block head_beside_embedding();
  Block multi_token(std::int64_t depth, bool own_table, const plan::LayerRecompute& recompute);
  Block layer(std::int64_t index, const plan::LayerRecompute& recompute);
  TemplateId send(schedule::Direction direction);
  TemplateId receive(schedule::Direction direction);
  /// Templates that pass the residual stream between two chunks of one pipeline position.
  TemplateId hand_over();
  TemplateId take_over();
  /// Template that gathers a block's parameters for a use; -1 if there is nothing to gather.
  TemplateId gather(const ShardingBuilder& sharding, const UnitSize& unit, bool first_use,
                    bool forward);
  /// True if a forward copies this block's parameters out of the gathered buffer while the block
  /// computes. A loss in tiles reads the head's weight, which the model's own group gathers ahead
  /// of its layers (trl 1.16.0 trl/trainer/utils.py, add_fused_lm_head).
  [[nodiscard]] bool copies_out(const Block& block) const {
    const bool by_model = s_.kernels.loss_keeps == plan::LossSavedTensors::kTiles;
    return block.unit != kHeadUnit || (s_.loss_in_forward && !by_model);
  }
  /// True if a backward gathers blocks in the reverse order of the forward, even blocks that it
  TemplateId reduce(const ShardingBuilder& sharding, const std::vector<UnitSize>& bucket,
                    Reduction how);
  /// True if `units` is the head alone and the loss has already reduced the head's gradients.
  [[nodiscard]] bool reduced_by_loss(const std::vector<std::int32_t>& units) const {
    return s_.copies_gradients && s_.kernels.loss_keeps == plan::LossSavedTensors::kGradients &&
           units == std::vector<std::int32_t>{kHeadUnit};
  }
  TemplateId add(Template piece);
  /// Adds the template in which a forward and a backward template are interleaved (`step/pair.h`).
  TemplateId pair(TemplateId forward, TemplateId backward, const OperatorSeconds& seconds);

  [[nodiscard]] const std::vector<Template>& templates() const { return templates_; }
  std::vector<Template> take() { return std::move(templates_); }

 private:
  Block add(BlockPair pair, schedule::BackwardForm form);
  Block head(BlockPair pair);
  Block add_passes(const BlockPair& pair);
  const Setting& s_;
  schedule::BackwardForm form_;
  std::vector<Template> templates_;
  std::map<std::pair<model::LayerClass, plan::LayerRecompute>, Block> layers_;
  std::map<std::pair<bool, schedule::Direction>, TemplateId> messages_;
  std::map<std::pair<TemplateId, TemplateId>, TemplateId> pairs_;
  TemplateId hand_over_ = -1;
  TemplateId take_over_ = -1;
  std::map<std::vector<std::int64_t>, TemplateId> gathers_;
  std::map<std::vector<std::int64_t>, TemplateId> reductions_;
};

/// How a chunk is connected to the previous or next chunk of the model: not at all, by a message,
/// or on the same pipeline position.
enum class ChunkLink : std::uint8_t { kNone, kMessage, kSamePosition };

/// Writes the sequences of one chunk: forward, backward and, if backwards are split, weight
/// gradients, each with the data-parallel messages that overlap it.
class SequenceWriter {
 public:
  /// The chunk to write, and its connections to the previous (`before`) and next (`behind`) chunk
  /// of the model.
  struct Chunk {
    const std::vector<Block>& blocks;
    std::int32_t index = 0;  ///< Index of the chunk on its pipeline position.
    ChunkLink before = ChunkLink::kNone;
    ChunkLink behind = ChunkLink::kNone;
  };
  SequenceWriter(TemplateStore& store, const ShardingBuilder& sharding, const plan::Plan& plan,
                 const Chunk& chunk)
      : store_(store), sharding_(sharding), plan_(plan), chunk_(chunk) {}

  /// Writes the forward of one micro-batch. `first`: it is the first of the step and includes the
  /// gathers that the previous step postponed.
  [[nodiscard]] Sequence forward(bool first);
  /// Writes the backward of one micro-batch: data and weight gradients, or for split blocks the
  /// data gradients alone. `last`: it is the last of the step and includes the reductions that end
  /// the step.
  [[nodiscard]] Sequence backward(bool last);
  [[nodiscard]] Sequence data_gradients(bool last);
  [[nodiscard]] Sequence weight_gradients(bool last);
  /// Writes the weight gradients that the blocks of the chunk deferred, and their reduction.
  [[nodiscard]] Sequence head_gradient(bool last);

  /// Write work that all pipeline positions do at the same time, on a chunk of one block: the
  /// embedding or the head.
  [[nodiscard]] Sequence embed(bool first);
  [[nodiscard]] Sequence predict(bool first, bool last);
  [[nodiscard]] Sequence embed_gradient(bool last);
  /// Writes pass number `which` of a block that is computed in several passes.
  [[nodiscard]] Sequence pass(std::size_t which, bool first, bool last);

 private:
  struct Bucket {
    std::vector<UnitSize> units;
    std::vector<Source> sources;
    std::vector<std::int32_t> ids;
    std::int64_t elements = 0;
    std::int32_t after = -1;
  };
  Sequence backward(bool last, bool whole);
  /// Writes the postponed template (`part`) of every block, in the order of a backward.
  Sequence late_gradients(schedule::Direction direction, TemplateId Block::* part, bool last);
  /// State of a sequence while it is written: `source` is the item whose output is the residual
  /// stream (-1: none yet), `done` the items of the blocks written so far.
  struct Progress {
    std::int32_t source = -1;
    std::vector<std::int32_t> done;
  };
  std::int32_t append_gather(Sequence& sequence, const Block& block, bool first,
                             const Progress& progress);
  void append_forward(Sequence& sequence, const Block& block, bool first, Progress& progress);
  void append_block(Sequence& sequence, const Item& block, std::int32_t gather, Progress& progress);
  void append_source(Sequence& sequence, Progress& progress, ChunkLink from);
  void append_target(Sequence& sequence, std::int32_t source, ChunkLink to);
  void append_reduction(Sequence& sequence, Bucket& bucket, bool last);
  void collect(Sequence& sequence, Bucket& bucket, const Block& block, const Progress& progress,
               bool last);
  [[nodiscard]] bool ends_step(bool last) const;
  /// True if the gradient of the loss reaches a block of the chunk, and if it continues to the
  /// chunk before.
  [[nodiscard]] bool gradient_comes() const;
  [[nodiscard]] bool gradient_goes_on() const;

  TemplateStore& store_;
  const ShardingBuilder& sharding_;
  const plan::Plan& plan_;
  Chunk chunk_;
};

/// Merges the forward of one micro-batch with the backward of another into one sequence: the first
/// layer of the forward is paired with the first layer of the backward, and so on, each pair as one
/// template. Blocks before, between and after the paired layers keep their order, the backward's
/// first.
Sequence pair_sequence(TemplateStore& store, const Sequence& forward, const Sequence& backward,
                       const OperatorSeconds& seconds);

}  // namespace stepwright::step
