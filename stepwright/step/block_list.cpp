#include "stepwright/step/block_list.h"

#include <algorithm>
#include <utility>

#include "stepwright/step/split_backward.h"
#include "stepwright/step/vocabulary_passes.h"

namespace stepwright::step {
namespace {

/// Index of the output of a backward template that holds gradients for a reduction; -1: none.
std::int32_t gradient_output(const std::vector<Template>& templates, TemplateId which) {
  const Template& piece = templates[static_cast<std::size_t>(which)];
  for (std::size_t i = 0; i < piece.outputs.size(); ++i) {
    const Tensor& tensor = piece.tensors[static_cast<std::size_t>(piece.outputs[i])];
    if (tensor.kind == TensorKind::kGathered) return static_cast<std::int32_t>(i);
  }
  return -1;
}

/// Direction in which a sequence passes the residual stream or its gradient.
schedule::Direction passing(const Sequence& sequence) {
  const bool forward = sequence.direction == schedule::Direction::kForward;
  return forward ? schedule::Direction::kForward : schedule::Direction::kBackward;
}

std::int32_t append(Sequence& sequence, Item item) {
  sequence.items.push_back(std::move(item));
  return static_cast<std::int32_t>(sequence.items.size() - 1);
}

}  // namespace

TemplateId TemplateStore::add(Template piece) {
  templates_.push_back(std::move(piece));
  return static_cast<TemplateId>(templates_.size() - 1);
}

ModelBlock TemplateStore::add(BlockTemplatePair pair, schedule::BackwardForm form) {
  if (!pair.forward_passes.empty()) return add_passes(pair);
  ModelBlock block;
  block.size = unit_size(s_, pair.forward.parameters);
  block.forward = add(std::move(pair.forward));
  if (pair.backward.operators.empty()) return block;
  if (!pair.deferred.operators.empty()) block.deferred = add(std::move(pair.deferred));
  if (form != schedule::BackwardForm::kWhole) {
    SplitBackward parts = split_backward(pair.backward);
    block.backward = add(std::move(parts.data));
    block.weight = add(std::move(parts.weight));
  }
  if (form != schedule::BackwardForm::kSplit) block.whole = add(std::move(pair.backward));
  if (form == schedule::BackwardForm::kWhole) block.backward = block.whole;
  return block;
}

ModelBlock TemplateStore::add_passes(const BlockTemplatePair& pair) {
  ModelBlock block;
  block.size = unit_size(s_, pair.forward.parameters);
  for (VocabularyPass& pass : split_vocabulary_passes(pair)) {
    block.directions.push_back(pass.direction);
    block.passes.push_back(add(std::move(pass.piece)));
  }
  return block;
}

ModelBlock TemplateStore::embedding(const plan::LayerRecompute& recompute, bool at_end) {
  ModelBlock block =
      add(build_embedding(s_, recompute.whole, at_end), schedule::BackwardForm::kWhole);
  block.unit = kEmbeddingBlockNumber;
  block.gradients = embedding_gradient_extent(*s_.model);
  return block;
}

ModelBlock TemplateStore::head(bool own_table, bool at_end) {
  return head(build_head(s_, own_table, at_end));
}

ModelBlock TemplateStore::add_tied_head_templates() {
  Setting setting = s_;
  setting.overlap.defer_embedding_gradient = false;
  return head(build_head(setting, false));
}

ModelBlock TemplateStore::head(BlockTemplatePair pair) {
  ModelBlock block = add(std::move(pair), schedule::BackwardForm::kWhole);
  block.unit = kHeadBlockNumber;
  block.gradients = head_gradients(*s_.model);
  return block;
}

ModelBlock TemplateStore::multi_token(std::int64_t depth, bool own_table,
                                      const plan::LayerRecompute& recompute) {
  ModelBlock block =
      add(build_multi_token_layer(s_, depth, own_table, recompute), schedule::BackwardForm::kWhole);
  block.unit = static_cast<std::int32_t>(s_.model->layers + depth);
  return block;
}

ModelBlock TemplateStore::layer(std::int64_t index, const plan::LayerRecompute& recompute) {
  const model::LayerClass which = s_.model->layer_class(index);
  const auto key = std::make_pair(which, recompute);
  auto found = layers_.find(key);
  if (found == layers_.end()) {
    found = layers_.emplace(key, add(build_layer(s_, which, recompute), form_)).first;
  }
  ModelBlock block = found->second;
  block.layer = static_cast<std::int32_t>(index);
  block.unit = block.layer;
  block.gradients = which.gradients;
  return block;
}

TemplateId TemplateStore::send(schedule::Direction direction) {
  const auto [entry, fresh] = messages_.try_emplace({true, direction}, -1);
  if (fresh) entry->second = add(build_pipeline_send(s_, direction));
  return entry->second;
}

TemplateId TemplateStore::receive(schedule::Direction direction) {
  const auto [entry, fresh] = messages_.try_emplace({false, direction}, -1);
  if (fresh) entry->second = add(build_pipeline_receive(s_, direction));
  return entry->second;
}

TemplateId TemplateStore::leave_residual_template() {
  if (hand_over_ < 0) hand_over_ = add(build_residual_hand_over(s_));
  return hand_over_;
}

TemplateId TemplateStore::pick_up_residual_template() {
  if (take_over_ < 0) take_over_ = add(build_residual_take_over(s_));
  return take_over_;
}

TemplateId TemplateStore::pair(TemplateId forward, TemplateId backward,
                               const OperatorSeconds& seconds) {
  const auto [entry, fresh] = pairs_.try_emplace({forward, backward}, -1);
  if (fresh) {
    const Template& first = templates_[static_cast<std::size_t>(forward)];
    const Template& second = templates_[static_cast<std::size_t>(backward)];
    entry->second = add(merge_forward_backward_templates(
        first, second, paired_operator_order(first, second, seconds)));
  }
  return entry->second;
}

TemplateId TemplateStore::gather(const ShardingBuilder& sharding, const BlockParameterSizes& unit,
                                 bool first_use, bool forward) {
  const std::vector<std::int64_t> key{unit.dense,        unit.expert,        unit.borrowed,
                                      unit.frozen_dense, unit.frozen_expert, unit.frozen_borrowed,
                                      first_use ? 1 : 0, forward ? 1 : 0};
  const auto [entry, fresh] = gathers_.try_emplace(key, -1);
  if (fresh) {
    Template piece = sharding.gather(unit, first_use, forward);
    if (!piece.operators.empty()) entry->second = add(std::move(piece));
  }
  return entry->second;
}

TemplateId TemplateStore::reduce(const ShardingBuilder& sharding,
                                 const std::vector<BlockParameterSizes>& bucket,
                                 GradientReduction how) {
  std::vector<std::int64_t> key{how.last ? 1 : 0, how.done ? 1 : 0};
  for (const BlockParameterSizes& unit : bucket) {
    key.insert(key.end(), {unit.dense, unit.expert, unit.borrowed});
  }
  const auto [entry, fresh] = reductions_.try_emplace(std::move(key), -1);
  if (fresh) {
    Template piece = sharding.reduce(bucket, how);
    if (!piece.operators.empty()) entry->second = add(std::move(piece));
  }
  return entry->second;
}

std::int32_t ChunkSequenceBuilder::append_gather(Sequence& sequence, const ModelBlock& block,
                                                 bool first, const SequenceBuildState& progress) {
  const bool postponed =
      first && gathers_updates_by_block(plan_) && sharding_.gathers_parameters_after_step();
  if (!postponed && !sharding_.gathers_parameters_each_use()) return -1;
  const bool forward = sequence.direction == schedule::Direction::kForward;
  const TemplateId which = store_.gather(sharding_, block.size, postponed,
                                         forward && store_.copies_parameters_from_gathered(block));
  if (which < 0) return -1;
  // Gathered blocks use two buffers, so a gather waits until the block before the last is done. A
  // gather that only refreshes resident parameters has no buffer to wait for.
  std::vector<std::int32_t> after;
  const std::size_t ahead = plan_.overlap.parameters ? 2 : 1;
  const std::vector<std::int32_t>& done = progress.done;
  if (sharding_.gathers_parameters_each_use() && done.size() >= ahead) {
    after.push_back(done[done.size() - ahead]);
  }
  return append(sequence, {which, block.layer, std::move(after), {}, {block.unit}});
}

void ChunkSequenceBuilder::append_block(Sequence& sequence, const Item& block, std::int32_t gather,
                                        SequenceBuildState& progress) {
  const Template& piece = store_.templates()[static_cast<std::size_t>(block.which)];
  Item item = block;
  if (progress.source >= 0) item.after.push_back(progress.source);
  if (gather >= 0) item.after.push_back(gather);
  for (const TensorId id : piece.inputs) {
    const bool parameters =
        piece.tensors[static_cast<std::size_t>(id)].kind == TensorKind::kGathered;
    item.inputs.push_back({parameters ? gather : progress.source, 0});
  }
  progress.source = append(sequence, std::move(item));
  progress.done.push_back(progress.source);
}

void ChunkSequenceBuilder::append_reduction(Sequence& sequence, Bucket& bucket, bool last) {
  if (bucket.units.empty()) return;
  const TemplateId which =
      store_.reduce(sharding_, bucket.units, {last, store_.is_head_reduced_by_loss(bucket.ids)});
  if (which >= 0) append(sequence, {which, -1, {bucket.after}, bucket.sources, bucket.ids});
  bucket = {};
}

Sequence ChunkSequenceBuilder::forward(bool first) {
  Sequence sequence{.direction = schedule::Direction::kForward, .chunk = chunk_.index, .items = {}};
  SequenceBuildState progress;
  append_source(sequence, progress, chunk_.before);
  for (const ModelBlock& block : chunk_.blocks) append_forward(sequence, block, first, progress);
  append_target(sequence, progress.source, chunk_.behind);
  return sequence;
}

void ChunkSequenceBuilder::append_forward(Sequence& sequence, const ModelBlock& block, bool first,
                                          SequenceBuildState& progress) {
  const std::int32_t gather = append_gather(sequence, block, first, progress);
  append_block(sequence, {block.forward, block.layer, {}, {}, {block.unit}}, gather, progress);
}

/// True if this sequence, the last of its kind, includes the reductions that end a step.
bool ChunkSequenceBuilder::ends_step(bool last) const {
  return last && sharding_.reduces_more_in_last_backward() && reduces_in_buckets(plan_);
}

/// Adds a block, whose gradients the item `progress.source` has completed, to the bucket of
/// gradients to reduce.
void ChunkSequenceBuilder::collect(Sequence& sequence, Bucket& bucket, const ModelBlock& block,
                                   const SequenceBuildState& progress, bool last) {
  const bool ends = ends_step(last);
  if (!sharding_.reduces_gradients_each_backward() && !ends) return;
  if (!block.size.trains()) return;
  bucket.units.push_back(block.size);
  bucket.ids.push_back(block.unit);
  bucket.elements += block.size.dense + block.size.expert;
  bucket.after = progress.source;
  const TemplateId which = sequence.items[static_cast<std::size_t>(progress.source)].which;
  const std::int32_t output = gradient_output(store_.templates(), which);
  if (output >= 0) bucket.sources.push_back({progress.source, output});
  if (fills_bucket(bucket.elements, plan_.gradient_bucket)) {
    append_reduction(sequence, bucket, ends);
  }
}

bool ChunkSequenceBuilder::gradient_reaches_chunk() const {
  return std::ranges::any_of(chunk_.blocks,
                             [](const ModelBlock& block) { return block.backward >= 0; });
}

bool ChunkSequenceBuilder::gradient_goes_on() const {
  return std::ranges::all_of(chunk_.blocks, [](const ModelBlock& block) {
    return block.gradients == model::LayerGradientFlow::kThrough;
  });
}

Sequence ChunkSequenceBuilder::backward(bool last) { return backward(last, true); }

Sequence ChunkSequenceBuilder::data_gradients(bool last) { return backward(last, false); }

Sequence ChunkSequenceBuilder::backward(bool last, bool whole) {
  const schedule::Direction direction =
      whole ? schedule::Direction::kBackward : schedule::Direction::kDataGradient;
  Sequence sequence{.direction = direction, .chunk = chunk_.index, .items = {}};
  SequenceBuildState progress;
  Bucket bucket;
  if (!gradient_reaches_chunk() && !gradient_goes_on()) return sequence;
  append_source(sequence, progress, chunk_.behind);
  for (auto block = chunk_.blocks.rbegin(); block != chunk_.blocks.rend(); ++block) {
    if (block->backward < 0) break;
    const std::int32_t gather = append_gather(sequence, *block, false, progress);
    const TemplateId which = whole ? block->whole : block->backward;
    append_block(sequence, {which, block->layer, {}, {}, {block->unit}}, gather, progress);
    const bool ready = (whole || block->weight < 0) && block->deferred < 0;
    if (ready) collect(sequence, bucket, *block, progress, last);
  }
  append_reduction(sequence, bucket, ends_step(last));
  if (gradient_goes_on()) append_target(sequence, progress.source, chunk_.before);
  return sequence;
}

Sequence ChunkSequenceBuilder::weight_gradients(bool last) {
  return postponed_weight_gradients(schedule::Direction::kWeightGradient, &ModelBlock::weight,
                                    last);
}

Sequence ChunkSequenceBuilder::deferred_head_gradient_sequence(bool last) {
  return postponed_weight_gradients(schedule::Direction::kHeadGradient, &ModelBlock::deferred,
                                    last);
}

Sequence ChunkSequenceBuilder::postponed_weight_gradients(schedule::Direction direction,
                                                          TemplateId ModelBlock::* part,
                                                          bool last) {
  Sequence sequence{.direction = direction, .chunk = chunk_.index, .items = {}};
  SequenceBuildState progress;
  Bucket bucket;
  for (auto block = chunk_.blocks.rbegin(); block != chunk_.blocks.rend(); ++block) {
    const TemplateId which = (*block).*part;
    if (which < 0) continue;
    append_block(sequence, {which, block->layer, {}, {}, {block->unit}}, -1, progress);
    collect(sequence, bucket, *block, progress, last);
  }
  append_reduction(sequence, bucket, ends_step(last));
  return sequence;
}

Sequence ChunkSequenceBuilder::embedding_lookup_sequence(bool first) {
  Sequence sequence = forward(first);
  sequence.direction = schedule::Direction::kEmbed;
  return sequence;
}

Sequence ChunkSequenceBuilder::predict(bool first, bool last) {
  Sequence sequence{.direction = schedule::Direction::kPredict, .chunk = chunk_.index, .items = {}};
  const ModelBlock& head = chunk_.blocks.front();
  SequenceBuildState progress;
  Bucket bucket;
  append_source(sequence, progress, chunk_.before);
  append_forward(sequence, head, first, progress);
  const std::int32_t gather = append_gather(sequence, head, false, progress);
  append_block(sequence, {head.whole, head.layer, {}, {}, {head.unit}}, gather, progress);
  collect(sequence, bucket, head, progress, last);
  append_reduction(sequence, bucket, ends_step(last));
  append_target(sequence, progress.source, chunk_.before);
  return sequence;
}

Sequence ChunkSequenceBuilder::embedding_gradient_sequence(bool last) {
  Sequence sequence = backward(last);
  sequence.direction = schedule::Direction::kEmbedGradient;
  return sequence;
}

Sequence ChunkSequenceBuilder::pass(std::size_t which, bool first, bool last) {
  const ModelBlock& block = chunk_.blocks.front();
  const auto piece = [&](TemplateId id) -> const Template& {
    return store_.templates()[static_cast<std::size_t>(id)];
  };
  const auto is_first = [&](auto&& does) {
    const auto same = [&](TemplateId id) { return does(piece(id)); };
    return std::ranges::find_if(block.passes, same) - block.passes.begin() ==
           static_cast<std::ptrdiff_t>(which);
  };
  const TemplateId id = block.passes[which];
  const bool takes = !piece(id).inputs.empty();
  const bool gives = !piece(id).outputs.empty();
  const bool begins = is_first(uses_parameters);
  const bool ends = makes_gradients(piece(id)) &&
                    std::none_of(block.passes.begin() + static_cast<std::ptrdiff_t>(which) + 1,
                                 block.passes.end(),
                                 [&](TemplateId other) { return makes_gradients(piece(other)); });
  Sequence sequence{.direction = block.directions[which], .chunk = chunk_.index, .items = {}};
  SequenceBuildState progress;
  Bucket bucket;
  if (takes) append_source(sequence, progress, ChunkLink::kSamePosition);
  const std::int32_t gather = begins ? append_gather(sequence, block, first, progress) : -1;
  append_block(sequence, {id, block.layer, {}, {}, {block.unit}}, gather, progress);
  if (ends) collect(sequence, bucket, block, progress, last);
  append_reduction(sequence, bucket, ends_step(last));
  if (gives) append_target(sequence, progress.source, ChunkLink::kSamePosition);
  return sequence;
}

/// Appends the item from which a sequence gets the residual stream: a receive, or the take-over
/// from another chunk of the position.
void ChunkSequenceBuilder::append_source(Sequence& sequence, SequenceBuildState& progress,
                                         ChunkLink from) {
  if (from == ChunkLink::kNone) return;
  Item item{.which = from == ChunkLink::kMessage ? store_.receive(passing(sequence))
                                                 : store_.pick_up_residual_template()};
  if (from == ChunkLink::kSamePosition) item.units = {kHandedOverResidual};
  progress.source = append(sequence, std::move(item));
}

/// Appends the item to which a sequence passes the residual stream: a send, or the hand-over to
/// another chunk of the position.
void ChunkSequenceBuilder::append_target(Sequence& sequence, std::int32_t source, ChunkLink to) {
  if (to == ChunkLink::kNone) return;
  Item item{.which = to == ChunkLink::kMessage ? store_.send(passing(sequence))
                                               : store_.leave_residual_template(),
            .after = {source},
            .inputs = {{source, 0}}};
  if (to == ChunkLink::kSamePosition) item.units = {kHandedOverResidual};
  append(sequence, std::move(item));
}

}  // namespace stepwright::step
