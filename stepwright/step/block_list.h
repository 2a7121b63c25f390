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
  TemplateId backward = -1;  ///< The data gradients, if the backward is split; -1: it has none.
  TemplateId weight = -1;    ///< The weight gradients, if the backward is split; -1: not split.
  TemplateId whole = -1;     ///< Data and weight gradients in one template.
  TemplateId deferred = -1;  ///< Weight gradients behind all turns of the position; -1: none.
  /// In their order, the passes of a block that is done in passes.
  std::vector<TemplateId> passes;
  std::vector<schedule::Direction> directions;  ///< Directions of `passes`, one each.
  std::int32_t layer = -1;
  std::int32_t unit = -1;  ///< The block's number, as in `Item::units`.
  model::GradientPath gradients = model::GradientPath::kThrough;
  UnitSize size;
};

/// The templates of a program, each stored once.
class TemplateStore {
 public:
  /// A store in which backwards of layers are cut in two where `form` says so; those of the
  /// embedding, which has no data gradients, and of the head and of multi-token layers, whose
  /// logits are too large to wait, are not.
  TemplateStore(const Setting& setting, schedule::BackwardForm form) : s_(setting), form_(form) {}

  /// `at_end` as in `build_embedding`.
  Block embedding(const plan::LayerRecompute& recompute, bool at_end = true);
  Block head(bool own_table, bool at_end = true);
  /// A head beside the embedding's table, whose reduction waits for the gradients of both: the head
  /// defers none.
  Block head_beside_embedding();
  Block multi_token(std::int64_t depth, bool own_table, const plan::LayerRecompute& recompute);
  Block layer(std::int64_t index, const plan::LayerRecompute& recompute);
  TemplateId send(schedule::Direction direction);
  TemplateId receive(schedule::Direction direction);
  /// Between chunks of one position.
  TemplateId hand_over();
  TemplateId take_over();
  /// -1 when nothing is to be gathered or reduced.
  TemplateId gather(const ShardingBuilder& sharding, const UnitSize& unit, bool first_use,
                    bool forward);
  /// True if what a forward's gather of a block makes stays beside the block's work. A loss in
  /// tiles reads the head's weight, which the model's own group gathers ahead of its layers
  /// (trl 1.16.0 trl/trainer/utils.py, add_fused_lm_head).
  [[nodiscard]] bool copies_out(const Block& block) const {
    const bool by_model = s_.kernels.loss_keeps == plan::LossKeeps::kTiles;
    return block.unit != kHeadUnit || (s_.loss_in_forward && !by_model);
  }
  /// True if a backward gathers blocks in the reverse order of the forward, whoever uses them.
  [[nodiscard]] bool prefetches_in_order() const { return s_.copies_gathers; }
  TemplateId reduce(const ShardingBuilder& sharding, const std::vector<UnitSize>& bucket,
                    Reduction how);
  /// True if the loss itself has reduced the gradients of blocks: of the head alone.
  [[nodiscard]] bool reduced_by_loss(const std::vector<std::int32_t>& units) const {
    return s_.copies_gradients && s_.kernels.loss_keeps == plan::LossKeeps::kGradients &&
           units == std::vector<std::int32_t>{kHeadUnit};
  }
  TemplateId add(Template piece);
  /// A forward and a backward template interleaved (`step/pair.h`).
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

/// How a chunk hangs together with the one before or behind it in the model.
enum class ChunkLink : std::uint8_t { kNone, kMessage, kSamePosition };

/// Writes the sequences of one chunk: forward, backward and, where backwards are split, weight
/// gradients, each with the data-parallel messages that run beside it.
class SequenceWriter {
 public:
  /// The chunk to write, and how others come before and after it in the model.
  struct Chunk {
    const std::vector<Block>& blocks;
    std::int32_t index = 0;  ///< Index of the chunk in its stage.
    ChunkLink before = ChunkLink::kNone;
    ChunkLink behind = ChunkLink::kNone;
  };
  SequenceWriter(TemplateStore& store, const ShardingBuilder& sharding, const plan::Plan& plan,
                 const Chunk& chunk)
      : store_(store), sharding_(sharding), plan_(plan), chunk_(chunk) {}

  /// `first`: of the step, with the gathers that the last one postponed.
  [[nodiscard]] Sequence forward(bool first);
  /// `last`: of the step, with the reductions that end it. Both gradients, or of blocks that are
  /// cut the data gradients alone.
  [[nodiscard]] Sequence backward(bool last);
  [[nodiscard]] Sequence data_gradients(bool last);
  [[nodiscard]] Sequence weight_gradients(bool last);
  /// Weight gradients that the blocks of the chunk defer, and their reduction.
  [[nodiscard]] Sequence head_gradient(bool last);

  /// Work that all positions do together on a chunk of one block: the embedding or the head.
  [[nodiscard]] Sequence embed(bool first);
  [[nodiscard]] Sequence predict(bool first, bool last);
  [[nodiscard]] Sequence embed_gradient(bool last);
  /// One pass of a block that is done in passes.
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
  /// The part of all blocks that waits, in the order of a backward.
  Sequence late_gradients(schedule::Direction direction, TemplateId Block::* part, bool last);
  /// How far a sequence has got: where the residual stream is, and the blocks done.
  struct Progress {
    std::int32_t source = -1;
    std::vector<std::int32_t> done;
  };
  std::int32_t append_gather(Sequence& sequence, const Block& block, bool first,
                             const Progress& progress);
  void prefetch_in_vain(Sequence& sequence, const Block& block, const Progress& progress);
  void append_forward(Sequence& sequence, const Block& block, bool first, Progress& progress);
  void append_block(Sequence& sequence, const Item& block, std::int32_t gather, Progress& progress);
  void append_source(Sequence& sequence, Progress& progress, ChunkLink from);
  void append_target(Sequence& sequence, std::int32_t source, ChunkLink to);
  void append_reduction(Sequence& sequence, Bucket& bucket, bool last);
  void collect(Sequence& sequence, Bucket& bucket, const Block& block, const Progress& progress,
               bool last);
  [[nodiscard]] bool ends_step(bool last) const;
  /// Whether the gradient comes to a block of the chunk, and goes on to what is before the chunk.
  [[nodiscard]] bool gradient_comes() const;
  [[nodiscard]] bool gradient_goes_on() const;

  TemplateStore& store_;
  const ShardingBuilder& sharding_;
  const plan::Plan& plan_;
  Chunk chunk_;
};

/// The sequence of a forward with that of another micro-batch's backward in it: the first layer of
/// the one beside the first of the other and so on, each two as one template; what comes before,
/// between and after keeps its order, the backward's first.
Sequence pair_sequence(TemplateStore& store, const Sequence& forward, const Sequence& backward,
                       const OperatorSeconds& seconds);

}  // namespace stepwright::step
