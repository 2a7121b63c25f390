#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/host_memory.h"
#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/found/all_turns.h"
#include "stepwright/step/block_list.h"
#include "stepwright/step/dispatch.h"
#include "stepwright/step/rough_seconds.h"

namespace stepwright::step {
namespace {

class ProgramBuilder {
 public:
  ProgramBuilder(const plan::Job& job, const plan::Plan& plan, RepresentativeMicroBatch size)
      : job_(job),
        plan_(plan::with_canonical_sharding(job, plan)),
        grid_(plan_),
        setting_(make_setting(job, plan_, size)),
        sharding_(setting_, plan_, grid_, job),
        form_(schedule::backward_form(plan.schedule)),
        store_(setting_, form_),
        placement_(plan::model_chunk_placement(plan)),
        seconds_(plan.schedule.strands > 1 ? OperatorSeconds(RoughOperatorSeconds(job, grid_))
                                           : nullptr),
        layers_(plan::layers_per_chunk(job, plan)),
        turns_(schedule::schedule_turns_of_positions(
            plan.schedule, plan.parallel.pipeline, plan::micro_batches_per_pipeline(job, plan))) {}

  StepProgram build() {
    StepProgram program;
    for (int kind = 0; kind < plan::kGroupKinds; ++kind) {
      program.group_sizes[static_cast<std::size_t>(kind)] =
          grid_.size(static_cast<plan::CommunicatorKind>(kind));
    }
    program.ranks = grid_.ranks();
    program.pipeline_stride = plan::node_ranks(job_, plan_).stride;
    program.shards_parameters = plan_.sharding.parameters != plan::StateShardingScope::kNone;
    program.placement = placement_;
    program.micro_batches = plan::micro_batches_per_pipeline(job_, plan_);
    program.imbalance = setting_.busiest;
    program.keeps_on_host = !setting_.offloaded.empty();
    program.even_routing =
        job_.routing == plan::Routing::kBalanced && routes_equal_rows_to_ranks(setting_);
    for (std::int64_t position = 0; position < plan_.parallel.pipeline; ++position) {
      program.stages.push_back(build_stage(position));
    }
    program.templates = store_.take();
    return program;
  }

 private:
  /// True if the embedding's table, which the model's last position uses too, is stored on two
  /// positions, each with its own copy.
  [[nodiscard]] bool split_table() const {
    return shares_embedding_table(job_.model) && !spreads() &&
           placement_.embedding_pipeline_position() != placement_.head_position();
  }

  /// True if both ends of the model use one table and are on one position.
  [[nodiscard]] bool joins_table() const {
    return shares_embedding_table(job_.model) && !split_table();
  }

  /// True if each position holds a part of the vocabulary tables, which all positions use at the
  /// same time.
  [[nodiscard]] bool spreads() const { return setting_.spread > 1; }

  std::vector<ModelBlock> chunk_blocks(PipelineStageProgram& stage, std::int64_t chunk) {
    const schedule::ModelChunkPosition place{stage.position, chunk};
    const std::int64_t which = placement_.model_chunk_index(place);
    std::int64_t layer = 0;
    for (std::int64_t i = 0; i < which; ++i) layer += layers_[static_cast<std::size_t>(i)];
    std::vector<ModelBlock> blocks;
    std::vector<std::int64_t> held;
    const plan::ActivationRecomputation recompute =
        plan::recompute_of_pipeline_rank(plan_.recompute, place.position);
    if (!spreads() && placement_.holds_embedding(place)) {
      blocks.push_back(embedding(plan::parts_recomputed_in_layers(recompute)));
    }
    for (std::int64_t i = 0; i < layers_[static_cast<std::size_t>(which)]; ++i, ++layer) {
      blocks.push_back(store_.layer(layer, plan::recomputation_of_chunk_layer(recompute, i)));
      held.push_back(layer);
    }
    if (!spreads() && placement_.holds_head(place)) {
      // The head is added first: multi-token layers use its table.
      blocks.push_back(joins_table() ? store_.add_tied_head_templates()
                                     : store_.head(split_table()));
      for (std::int64_t depth = 0; depth < job_.model.extra_predicted_tokens(); ++depth) {
        blocks.push_back(
            store_.multi_token(depth, split_table(), plan::parts_recomputed_in_layers(recompute)));
      }
    }
    stage.chunks.push_back(std::move(held));
    return blocks;
  }

  ModelBlock embedding(const plan::LayerRecompute& recompute) {
    if (embedding_.forward < 0) embedding_ = store_.embedding(recompute);
    return embedding_;
  }

  /// Appends a sequence and returns its index; the caller decides which slots share it.
  static std::int32_t append(PipelineStageProgram& stage, TemplateSequence sequence) {
    stage.sequences.push_back(std::move(sequence));
    return static_cast<std::int32_t>(stage.sequences.size() - 1);
  }

  /// Indices of a chunk's sequences. The first forward and the last backward of a step have
  /// messages of their own.
  struct ChunkSequences {
    std::int32_t forward_first, forward;
    /// Backward with data and weight gradients, and the last one of a step.
    std::int32_t backward, backward_last;
    std::int32_t data, data_last, weight, weight_last;
    /// Weight gradients that the chunk's head defers; -1: none.
    std::int32_t head = -1, head_last = -1;
    /// Sequences that all positions run at the same time.
    std::int32_t embed_first, embedding_lookup_sequence, predict_first, predict, predict_last;
    std::int32_t embedding_gradient_sequence, embed_gradient_last;
    /// For each pass over the vocabulary: the sequence of the first micro-batch, of the last, and
    /// of all others.
    std::array<std::array<std::int32_t, 3>, schedule::kVocabularyPasses> passes;
  };

  /// How a chunk is connected to the previous and next chunk of the model.
  [[nodiscard]] ModelChunkConnection before(const schedule::ModelChunkPosition& place) const {
    if (spreads() && placement_.holds_embedding(place)) return ModelChunkConnection::kSamePosition;
    return link_to(place, placement_.next_chunk_place_of_backward(place));
  }
  [[nodiscard]] ModelChunkConnection behind(const schedule::ModelChunkPosition& place) const {
    if (spreads() && placement_.holds_head(place)) return ModelChunkConnection::kSamePosition;
    return link_to(place, placement_.next_chunk_place(place));
  }

  static ModelChunkConnection link_to(const schedule::ModelChunkPosition& own,
                                      const std::optional<schedule::ModelChunkPosition>& other) {
    if (!other) return ModelChunkConnection::kNone;
    return other->position == own.position ? ModelChunkConnection::kSamePosition
                                           : ModelChunkConnection::kMessage;
  }

  /// True if the first forward of a step has gathers that the previous step postponed.
  [[nodiscard]] bool postponed() const {
    return gathers_updates_by_block(plan_) && sharding_.gathers_parameters_after_step();
  }

  /// Adds the embedding and head work that a position does at the same time as all others, in
  /// addition to its chunk.
  void add_joint(PipelineStageProgram& stage, ChunkSequences& made,
                 ModelBlockParameterCounts& size) {
    const bool first = placement_.holds_embedding(stage.position);
    const bool last = placement_.holds_head(stage.position);
    const plan::LayerRecompute recompute = plan::parts_recomputed_in_layers(
        plan::recompute_of_pipeline_rank(plan_.recompute, stage.position));
    const auto link = [](bool at_end) {
      return at_end ? ModelChunkConnection::kSamePosition : ModelChunkConnection::kNone;
    };
    const std::vector<ModelBlock> embedding = {
        part(embeddings_, first, [&] { return store_.embedding(recompute, first); })};
    const std::vector<ModelBlock> head = {
        part(heads_, last, [&] { return store_.head(false, last); })};
    size += embedding.front().size;
    size += head.front().size;
    if (setting_.barriers > 0) {
      add_passes(stage, made, embedding);
      return add_passes(stage, made, head);
    }
    ModelChunkSequenceBuilder tokens(store_, sharding_, plan_,
                                     {.blocks = embedding, .behind = link(first)});
    ModelChunkSequenceBuilder logits(store_, sharding_, plan_,
                                     {.blocks = head, .before = link(last)});
    const bool several = plan::micro_batches_per_pipeline(job_, plan_) > 1;
    const bool begins = postponed() && several;
    const bool ends = sharding_.last_backward_has_extra_reductions() && several;
    made.embed_first = append(stage, tokens.embedding_lookup_sequence(true));
    made.embedding_lookup_sequence =
        begins ? append(stage, tokens.embedding_lookup_sequence(false)) : made.embed_first;
    made.predict_first = append(stage, logits.predict(true, !several));
    made.predict = begins ? append(stage, logits.predict(false, false)) : made.predict_first;
    made.predict_last = ends ? append(stage, logits.predict(false, true)) : made.predict;
    made.embed_gradient_last = append(stage, tokens.embedding_gradient_sequence(true));
    made.embedding_gradient_sequence =
        ends ? append(stage, tokens.embedding_gradient_sequence(false)) : made.embed_gradient_last;
  }

  /// Adds the passes of the embedding's or head's blocks.
  void add_passes(PipelineStageProgram& stage, ChunkSequences& made,
                  const std::vector<ModelBlock>& blocks) {
    ModelChunkSequenceBuilder writer(store_, sharding_, plan_, {.blocks = blocks});
    const bool alone = plan::micro_batches_per_pipeline(job_, plan_) == 1;
    for (std::size_t i = 0; i < blocks.front().passes.size(); ++i) {
      const schedule::Direction pass = blocks.front().directions[i];
      made.passes[schedule::vocabulary_pass_index(pass)] = {
          append(stage, writer.build_vocabulary_pass_sequence(i, true, alone)),
          append(stage, writer.build_vocabulary_pass_sequence(i, false, true)),
          append(stage, writer.build_vocabulary_pass_sequence(i, false, false))};
    }
  }

  template <class Make>
  static ModelBlock part(std::array<ModelBlock, 2>& known, bool at_end, Make&& make) {
    ModelBlock& block = known[at_end ? 1 : 0];
    if (block.forward < 0 && block.passes.empty()) block = make();
    return block;
  }

  ChunkSequences add_chunk(PipelineStageProgram& stage, std::int64_t chunk,
                           ModelBlockParameterCounts& size) {
    const std::vector<ModelBlock> blocks = chunk_blocks(stage, chunk);
    for (const ModelBlock& block : blocks) size += block.size;
    const schedule::ModelChunkPosition place{stage.position, chunk};
    ModelChunkSequenceBuilder writer(store_, sharding_, plan_,
                                     {.blocks = blocks,
                                      .index = static_cast<std::int32_t>(chunk),
                                      .before = before(place),
                                      .behind = behind(place)});
    const bool several = plan::micro_batches_per_pipeline(job_, plan_) > 1;
    ChunkSequences made{};
    made.forward_first = append(stage, writer.forward(true));
    made.forward =
        postponed() && several ? append(stage, writer.forward(false)) : made.forward_first;
    const bool ends = sharding_.last_backward_has_extra_reductions() && several;
    if (form_ != schedule::BackwardSplitting::kSplit) {
      made.backward_last = append(stage, writer.backward(true));
      made.backward = ends ? append(stage, writer.backward(false)) : made.backward_last;
    }
    if (std::ranges::any_of(blocks, [](const ModelBlock& block) { return block.deferred >= 0; })) {
      made.head_last = append(stage, writer.deferred_head_gradient_sequence(true));
      made.head =
          ends ? append(stage, writer.deferred_head_gradient_sequence(false)) : made.head_last;
    }
    if (form_ == schedule::BackwardSplitting::kWhole) return made;
    made.data_last = append(stage, writer.data_gradients(true));
    made.data = ends ? append(stage, writer.data_gradients(false)) : made.data_last;
    made.weight_last = append(stage, writer.weight_gradients(true));
    made.weight = ends ? append(stage, writer.weight_gradients(false)) : made.weight_last;
    return made;
  }

  /// Number of per-expert row counts with which the routers of a stage correct their balance.
  [[nodiscard]] std::int64_t loads(const PipelineStageProgram& stage) const {
    const model::ModelArchitecture& model = job_.model;
    const auto corrects = [&](std::int64_t layer) {
      return model.adjusts_router_biases(model.layer_class(layer));
    };
    std::int64_t routers = 0;
    for (const auto& layers : stage.chunks) routers += std::ranges::count_if(layers, corrects);
    if (placement_.holds_head(stage.position) && corrects(model.layers)) {
      routers += model.extra_predicted_tokens();
    }
    return routers == 0 ? 0 : routers * model.experts->count;
  }

  TemplateSequence update_sequence(const PipelineStageProgram& stage,
                                   const ModelBlockParameterCounts& size) {
    const bool first = placement_.holds_embedding(stage.position);
    const bool last = placement_.holds_head(stage.position);
    ShardingBuilder::StepUpdateSizes what{.stage = size};
    if (split_table() && (first || last)) {
      const bool frozen = embedding_gradient_extent(job_.model) == model::LayerGradientFlow::kAbove;
      what.tied_table = frozen ? 0 : setting_.vocabulary * job_.model.hidden;
    }
    what.loss = last;
    what.experts = job_.model.experts.has_value();
    what.loads = loads(stage);
    TemplateSequence sequence{.direction = schedule::Direction::kUpdate, .chunk = 0, .items = {}};
    sequence.items.push_back({store_.add(sharding_.update(what)), -1, {}, {}});
    return sequence;
  }

  PipelineStageProgram build_stage(std::int64_t position) {
    PipelineStageProgram stage;
    stage.position = static_cast<std::int32_t>(position);
    ModelBlockParameterCounts size;
    std::vector<ChunkSequences> made;
    for (std::int64_t chunk = 0; chunk < placement_.chunks(); ++chunk) {
      made.push_back(add_chunk(stage, chunk, size));
    }
    if (spreads()) add_joint(stage, made.front(), size);
    schedule(stage, made);
    for (const ChunkSequences& chunk : made) schedule_deferred(stage, chunk);
    const std::int32_t update = append(stage, update_sequence(stage, size));
    stage.schedule.push_back({update, -1});
    stage.states = sharding_.states(size);
    stage.dense_parameters = size.dense + size.frozen_dense;
    stage.expert_parameters = size.expert + size.frozen_expert;
    return stage;
  }

  void schedule(PipelineStageProgram& stage, const std::vector<ChunkSequences>& made) {
    schedule::Turns turns = turns_[static_cast<std::size_t>(stage.position)];
    if (plan_.schedule.strands == 1) turns = schedule::serialize_overlapped_turns(std::move(turns));
    const std::vector<schedule::PipelineWorkPart> parts =
        schedule::work_items_in_issue_order(turns);
    std::vector<schedule::ModelChunkPassIndices> ends;
    for (std::int32_t chunk = 0; chunk < std::ssize(made); ++chunk) {
      ends.push_back(schedule::chunk_ends(parts, chunk));
    }
    stage.schedule.reserve(turns.size() + 1);
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> pairs;
    std::int32_t i = 0;
    const auto next_sequence = [&] {
      const schedule::PipelineWorkPart& part = parts[static_cast<std::size_t>(i)];
      const auto chunk = static_cast<std::size_t>(part.chunk);
      return sequence_of(made[chunk], ends[chunk], part, i++);
    };
    for (const schedule::PipelineScheduleTurn& turn : turns) {
      const std::int32_t first = next_sequence();
      if (!turn.beside) {
        stage.schedule.push_back({.sequence = first, .micro_batch = turn.part.micro_batch});
        continue;
      }
      // The list (`work_items_in_issue_order`) has the backward before the forward that runs
      // together with it.
      const std::int32_t backward = parts[static_cast<std::size_t>(i - 1)].micro_batch;
      const std::int32_t forward = parts[static_cast<std::size_t>(i)].micro_batch;
      const std::int32_t second = next_sequence();
      const auto [pair, fresh] = pairs.try_emplace({second, first}, -1);
      if (fresh) pair->second = append_pair(stage, second, first);
      stage.schedule.push_back({pair->second, forward, backward});
    }
  }

  /// Appends a slot for each micro-batch whose head has deferred its weight gradients.
  void schedule_deferred(PipelineStageProgram& stage, const ChunkSequences& chunk) const {
    const auto micro_batches =
        static_cast<std::int32_t>(plan::micro_batches_per_pipeline(job_, plan_));
    for (std::int32_t i = 0; chunk.head >= 0 && i < micro_batches; ++i) {
      stage.schedule.push_back({i + 1 == micro_batches ? chunk.head_last : chunk.head, i});
    }
  }

  /// Appends the sequence of a forward and a backward as two strands; returns its index.
  std::int32_t append_pair(PipelineStageProgram& stage, std::int32_t forward,
                           std::int32_t backward) {
    const auto at = [&](std::int32_t index) -> const TemplateSequence& {
      return stage.sequences[static_cast<std::size_t>(index)];
    };
    return append(stage, merge_forward_with_backward(store_, at(forward), at(backward), seconds_));
  }

  /// Returns the index of the sequence that the i-th part of a position's schedule runs.
  [[nodiscard]] std::int32_t sequence_of(const ChunkSequences& chunk,
                                         const schedule::ModelChunkPassIndices& ends,
                                         const schedule::PipelineWorkPart& part,
                                         std::int32_t i) const {
    const bool first = part.micro_batch == 0;
    const bool last = part.micro_batch + 1 == plan::micro_batches_per_pipeline(job_, plan_);
    switch (part.direction) {
      case schedule::Direction::kForward:
        return i == ends.first_forward ? chunk.forward_first : chunk.forward;
      case schedule::Direction::kBackward:
        return i == ends.last_backward ? chunk.backward_last : chunk.backward;
      case schedule::Direction::kDataGradient:
        return i == ends.last_backward ? chunk.data_last : chunk.data;
      case schedule::Direction::kWeightGradient:
        return i == ends.last_weight ? chunk.weight_last : chunk.weight;
      case schedule::Direction::kEmbed:
        return first ? chunk.embed_first : chunk.embedding_lookup_sequence;
      case schedule::Direction::kPredict:
        if (first) return chunk.predict_first;
        return last ? chunk.predict_last : chunk.predict;
      case schedule::Direction::kEmbedGradient:
        return last ? chunk.embed_gradient_last : chunk.embedding_gradient_sequence;
      case schedule::Direction::kUpdate: return -1;
      default:
        return chunk.passes[schedule::vocabulary_pass_index(part.direction)][first  ? 0
                                                                             : last ? 1
                                                                                    : 2];
    }
    return -1;
  }

  const plan::Job& job_;
  const plan::Plan plan_;
  plan::RankGrid grid_;
  StepBuildSettings setting_;
  ShardingBuilder sharding_;
  schedule::BackwardSplitting form_;
  OperatorTemplateStore store_;
  schedule::ModelChunkPlacement placement_;
  OperatorSeconds seconds_;  ///< Seconds by which strands are interleaved.
  std::vector<std::int64_t> layers_;
  std::vector<schedule::Turns> turns_;  ///< Turns (schedule entries) of each pipeline position.
  ModelBlock embedding_;
  /// Blocks of the split vocabulary: [0] on positions between the ends of the model, [1] on the
  /// position at its end.
  std::array<ModelBlock, 2> embeddings_, heads_;
};

}  // namespace

StepProgram build_step_program(const plan::Job& job, const plan::Plan& plan,
                               RepresentativeMicroBatch size) {
  return ProgramBuilder(job, plan, size).build();
}

}  // namespace stepwright::step
