#include "stepwright/step/block_list.h"

#include <algorithm>
#include <utility>

#include "stepwright/step/split_backward.h"
#include "stepwright/step/vocabulary_passes.h"

namespace stepwright::step {
namespace {

/// Index of the output of a backward template that holds gradients for a reduction; -1: none.
std::int32_t gradient_output(const std::vector<OperatorTemplate>& templates, TemplateId which) {
  const OperatorTemplate& piece = templates[static_cast<std::size_t>(which)];
  for (std::size_t i = 0; i < piece.outputs.size(); ++i) {
    const TemplateTensor& tensor = piece.tensors[static_cast<std::size_t>(piece.outputs[i])];
    if (tensor.kind == TensorPurpose::kGathered) return static_cast<std::int32_t>(i);
  }
  return -1;
}

/// Direction in which a sequence passes the residual stream or its gradient.
schedule::Direction passing(const TemplateSequence& sequence) {
  const bool forward = sequence.direction == schedule::Direction::kForward;
  return forward ? schedule::Direction::kForward : schedule::Direction::kBackward;
}

std::int32_t append(TemplateSequence& sequence, TemplateSequenceItem item) {
  sequence.items.push_back(std::move(item));
  return static_cast<std::int32_t>(sequence.items.size() - 1);
}

}  // namespace

TemplateId OperatorTemplateStore::add(OperatorTemplate piece) {
  templates_.push_back(std::move(piece));
  return static_cast<TemplateId>(templates_.size() - 1);
}

ModelBlock OperatorTemplateStore::add(ModelBlockTemplatePair pair,
                                      schedule::BackwardSplitting form) {
  if (!pair.forward_passes.empty()) return add_passes(pair);
  ModelBlock block;
  block.size = unit_size(s_, pair.forward.parameters);
  block.forward = add(std::move(pair.forward));
  if (pair.backward.operators.empty()) return block;
  if (!pair.deferred.operators.empty()) block.deferred = add(std::move(pair.deferred));
  if (form != schedule::BackwardSplitting::kWhole) {
    SplitBackwardTemplates parts = split_backward(pair.backward);
    block.backward = add(std::move(parts.data));
    block.weight = add(std::move(parts.weight));
  }
  if (form != schedule::BackwardSplitting::kSplit) block.whole = add(std::move(pair.backward));
  if (form == schedule::BackwardSplitting::kWhole) block.backward = block.whole;
  return block;
}

ModelBlock OperatorTemplateStore::add_passes(const ModelBlockTemplatePair& pair) {
  ModelBlock block;
  block.size = unit_size(s_, pair.forward.parameters);
  for (VocabularyPass& pass : split_vocabulary_passes(pair)) {
    block.directions.push_back(pass.direction);
    block.passes.push_back(add(std::move(pass.piece)));
  }
  return block;
}

ModelBlock OperatorTemplateStore::embedding(const plan::LayerRecompute& recompute, bool at_end) {
  ModelBlock block = add(build_embedding_templates(s_, recompute.whole, at_end),
                         schedule::BackwardSplitting::kWhole);
  block.unit = kEmbeddingBlockNumber;
  block.gradients = embedding_gradient_extent(*s_.model);
  return block;
}

ModelBlock OperatorTemplateStore::head(bool own_table, bool at_end) {
  return head(build_head_templates(s_, own_table, at_end));
}

ModelBlock OperatorTemplateStore::add_tied_head_templates() {
  StepBuildSettings setting = s_;
  setting.overlap.defer_embedding_gradient = false;
  return head(build_head_templates(setting, false));
}

ModelBlock OperatorTemplateStore::head(ModelBlockTemplatePair pair) {
  ModelBlock block = add(std::move(pair), schedule::BackwardSplitting::kWhole);
  block.unit = kHeadBlockNumber;
  block.gradients = head_gradients(*s_.model);
  return block;
}

ModelBlock OperatorTemplateStore::multi_token(std::int64_t depth, bool own_table,
                                              const plan::LayerRecompute& recompute) {
  ModelBlock block = add(build_multi_token_layer_templates(s_, depth, own_table, recompute),
                         schedule::BackwardSplitting::kWhole);
  block.unit = static_cast<std::int32_t>(s_.model->layers + depth);
  return block;
}

ModelBlock OperatorTemplateStore::layer(std::int64_t index, const plan::LayerRecompute& recompute) {
  const model::LayerClass which = s_.model->layer_class(index);
  const auto key = std::make_pair(which, recompute);
  auto found = layers_.find(key);
  if (found == layers_.end()) {
    found = layers_.emplace(key, add(build_layer_templates(s_, which, recompute), form_)).first;
  }
  ModelBlock block = found->second;
  block.layer = static_cast<std::int32_t>(index);
  block.unit = block.layer;
  block.gradients = which.gradients;
  return block;
}

TemplateId OperatorTemplateStore::send(schedule::Direction direction) {
  const auto [entry, fresh] = messages_.try_emplace({true, direction}, -1);
  if (fresh) entry->second = add(build_pipeline_send_template(s_, direction));
  return entry->second;
}

TemplateId OperatorTemplateStore::receive(schedule::Direction direction) {
  const auto [entry, fresh] = messages_.try_emplace({false, direction}, -1);
  if (fresh) entry->second = add(build_pipeline_receive(s_, direction));
  return entry->second;
}

TemplateId OperatorTemplateStore::template_handing_over_residual_stream() {
  if (hand_over_ < 0) hand_over_ = add(build_residual_hand_over_template(s_));
  return hand_over_;
}

TemplateId OperatorTemplateStore::template_receiving_residual_stream() {
  if (take_over_ < 0) take_over_ = add(build_residual_take_over(s_));
  return take_over_;
}

TemplateId OperatorTemplateStore::add_interleaved_template_pair(TemplateId forward,
                                                                TemplateId backward,
                                                                const OperatorSeconds& seconds) {
  const auto [entry, fresh] = pairs_.try_emplace({forward, backward}, -1);
  if (fresh) {
    const OperatorTemplate& first = templates_[static_cast<std::size_t>(forward)];
    const OperatorTemplate& second = templates_[static_cast<std::size_t>(backward)];
    entry->second = add(merge_forward_backward_templates(
        first, second, interleaved_issue_order(first, second, seconds)));
  }
  return entry->second;
}

TemplateId OperatorTemplateStore::add_parameter_gather_template(
    const ShardingBuilder& sharding, const ModelBlockParameterCounts& unit, bool first_use,
    bool forward) {
  const std::vector<std::int64_t> key{unit.dense,        unit.expert,        unit.borrowed,
                                      unit.frozen_dense, unit.frozen_expert, unit.frozen_borrowed,
                                      first_use ? 1 : 0, forward ? 1 : 0};
  const auto [entry, fresh] = gathers_.try_emplace(key, -1);
  if (fresh) {
    OperatorTemplate piece = sharding.build_parameter_gather_template(unit, first_use, forward);
    if (!piece.operators.empty()) entry->second = add(std::move(piece));
  }
  return entry->second;
}

TemplateId OperatorTemplateStore::add_gradient_reduction_template(
    const ShardingBuilder& sharding, const std::vector<ModelBlockParameterCounts>& bucket,
    GradientReduction how) {
  std::vector<std::int64_t> key{how.last ? 1 : 0, how.done ? 1 : 0};
  for (const ModelBlockParameterCounts& unit : bucket) {
    key.insert(key.end(), {unit.dense, unit.expert, unit.borrowed});
  }
  const auto [entry, fresh] = reductions_.try_emplace(std::move(key), -1);
  if (fresh) {
    OperatorTemplate piece = sharding.build_gradient_reduction_template(bucket, how);
    if (!piece.operators.empty()) entry->second = add(std::move(piece));
  }
  return entry->second;
}

std::int32_t ModelChunkSequenceBuilder::append_gather(TemplateSequence& sequence,
                                                      const ModelBlock& block, bool first,
                                                      const TemplateSequenceBuildState& progress) {
  const bool postponed =
      first && gathers_updates_by_block(plan_) && sharding_.gathers_parameters_after_step();
  if (!postponed && !sharding_.gathers_parameters_each_use()) return -1;
  const bool forward = sequence.direction == schedule::Direction::kForward;
  const TemplateId which = store_.add_parameter_gather_template(
      sharding_, block.size, postponed, forward && store_.copies_parameters_from_gathered(block));
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

void ModelChunkSequenceBuilder::append_block(TemplateSequence& sequence,
                                             const TemplateSequenceItem& block, std::int32_t gather,
                                             TemplateSequenceBuildState& progress) {
  const OperatorTemplate& piece = store_.templates()[static_cast<std::size_t>(block.which)];
  TemplateSequenceItem item = block;
  if (progress.source >= 0) item.after.push_back(progress.source);
  if (gather >= 0) item.after.push_back(gather);
  for (const TensorId id : piece.inputs) {
    const bool parameters =
        piece.tensors[static_cast<std::size_t>(id)].kind == TensorPurpose::kGathered;
    item.inputs.push_back({parameters ? gather : progress.source, 0});
  }
  progress.source = append(sequence, std::move(item));
  progress.done.push_back(progress.source);
}

void ModelChunkSequenceBuilder::append_reduction(TemplateSequence& sequence, Bucket& bucket,
                                                 bool last) {
  if (bucket.units.empty()) return;
  const TemplateId which = store_.add_gradient_reduction_template(
      sharding_, bucket.units, {last, store_.is_head_reduced_by_loss(bucket.ids)});
  if (which >= 0) append(sequence, {which, -1, {bucket.after}, bucket.sources, bucket.ids});
  bucket = {};
}

TemplateSequence ModelChunkSequenceBuilder::forward(bool first) {
  TemplateSequence sequence{
      .direction = schedule::Direction::kForward, .chunk = chunk_.index, .items = {}};
  TemplateSequenceBuildState progress;
  append_source(sequence, progress, chunk_.before);
  for (const ModelBlock& block : chunk_.blocks) append_forward(sequence, block, first, progress);
  append_target(sequence, progress.source, chunk_.behind);
  return sequence;
}

void ModelChunkSequenceBuilder::append_forward(TemplateSequence& sequence, const ModelBlock& block,
                                               bool first, TemplateSequenceBuildState& progress) {
  const std::int32_t gather = append_gather(sequence, block, first, progress);
  append_block(sequence, {block.forward, block.layer, {}, {}, {block.unit}}, gather, progress);
}

/// True if this sequence, the last of its kind, includes the reductions that end a step.
bool ModelChunkSequenceBuilder::ends_step(bool last) const {
  return last && sharding_.last_backward_has_extra_reductions() && reduces_in_buckets(plan_);
}

/// Adds a block, whose gradients the item `progress.source` has completed, to the bucket of
/// gradients to reduce.
void ModelChunkSequenceBuilder::collect(TemplateSequence& sequence, Bucket& bucket,
                                        const ModelBlock& block,
                                        const TemplateSequenceBuildState& progress, bool last) {
  const bool ends = ends_step(last);
  if (!sharding_.reduces_gradients_each_backward() && !ends) return;
  if (!block.size.has_trained_parameters()) return;
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

bool ModelChunkSequenceBuilder::loss_gradient_reaches_chunk() const {
  return std::ranges::any_of(chunk_.blocks,
                             [](const ModelBlock& block) { return block.backward >= 0; });
}

bool ModelChunkSequenceBuilder::gradient_goes_on() const {
  return std::ranges::all_of(chunk_.blocks, [](const ModelBlock& block) {
    return block.gradients == model::LayerGradientFlow::kThrough;
  });
}

TemplateSequence ModelChunkSequenceBuilder::backward(bool last) { return backward(last, true); }

TemplateSequence ModelChunkSequenceBuilder::data_gradients(bool last) {
  return backward(last, false);
}

TemplateSequence ModelChunkSequenceBuilder::backward(bool last, bool whole) {
  const schedule::Direction direction =
      whole ? schedule::Direction::kBackward : schedule::Direction::kDataGradient;
  TemplateSequence sequence{.direction = direction, .chunk = chunk_.index, .items = {}};
  TemplateSequenceBuildState progress;
  Bucket bucket;
  if (!loss_gradient_reaches_chunk() && !gradient_goes_on()) return sequence;
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

TemplateSequence ModelChunkSequenceBuilder::weight_gradients(bool last) {
  return postponed_weight_gradients(schedule::Direction::kWeightGradient, &ModelBlock::weight,
                                    last);
}

TemplateSequence ModelChunkSequenceBuilder::deferred_head_gradient_sequence(bool last) {
  return postponed_weight_gradients(schedule::Direction::kHeadGradient, &ModelBlock::deferred,
                                    last);
}

TemplateSequence ModelChunkSequenceBuilder::postponed_weight_gradients(
    schedule::Direction direction, TemplateId ModelBlock::* part, bool last) {
  TemplateSequence sequence{.direction = direction, .chunk = chunk_.index, .items = {}};
  TemplateSequenceBuildState progress;
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

TemplateSequence ModelChunkSequenceBuilder::embedding_lookup_sequence(bool first) {
  TemplateSequence sequence = forward(first);
  sequence.direction = schedule::Direction::kEmbed;
  return sequence;
}

TemplateSequence ModelChunkSequenceBuilder::predict(bool first, bool last) {
  TemplateSequence sequence{
      .direction = schedule::Direction::kPredict, .chunk = chunk_.index, .items = {}};
  const ModelBlock& head = chunk_.blocks.front();
  TemplateSequenceBuildState progress;
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

TemplateSequence ModelChunkSequenceBuilder::embedding_gradient_sequence(bool last) {
  TemplateSequence sequence = backward(last);
  sequence.direction = schedule::Direction::kEmbedGradient;
  return sequence;
}

TemplateSequence ModelChunkSequenceBuilder::build_vocabulary_pass_sequence(std::size_t which,
                                                                           bool first, bool last) {
  const ModelBlock& block = chunk_.blocks.front();
  const auto piece = [&](TemplateId id) -> const OperatorTemplate& {
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
  const bool begins = is_first(template_uses_parameters);
  const bool ends = template_computes_gradients(piece(id)) &&
                    std::none_of(block.passes.begin() + static_cast<std::ptrdiff_t>(which) + 1,
                                 block.passes.end(), [&](TemplateId other) {
                                   return template_computes_gradients(piece(other));
                                 });
  TemplateSequence sequence{
      .direction = block.directions[which], .chunk = chunk_.index, .items = {}};
  TemplateSequenceBuildState progress;
  Bucket bucket;
  if (takes) append_source(sequence, progress, ModelChunkConnection::kSamePosition);
  const std::int32_t gather = begins ? append_gather(sequence, block, first, progress) : -1;
  append_block(sequence, {id, block.layer, {}, {}, {block.unit}}, gather, progress);
  if (ends) collect(sequence, bucket, block, progress, last);
  append_reduction(sequence, bucket, ends_step(last));
  if (gives) append_target(sequence, progress.source, ModelChunkConnection::kSamePosition);
  return sequence;
}

/// Appends the item from which a sequence gets the residual stream: a receive, or the take-over
/// from another chunk of the position.
void ModelChunkSequenceBuilder::append_source(TemplateSequence& sequence,
                                              TemplateSequenceBuildState& progress,
                                              ModelChunkConnection from) {
  if (from == ModelChunkConnection::kNone) return;
  TemplateSequenceItem item{.which = from == ModelChunkConnection::kMessage
                                         ? store_.receive(passing(sequence))
                                         : store_.template_receiving_residual_stream()};
  if (from == ModelChunkConnection::kSamePosition) item.units = {kResidualToNextChunkNumber};
  progress.source = append(sequence, std::move(item));
}

/// Appends the item to which a sequence passes the residual stream: a send, or the hand-over to
/// another chunk of the position.
void ModelChunkSequenceBuilder::append_target(TemplateSequence& sequence, std::int32_t source,
                                              ModelChunkConnection to) {
  if (to == ModelChunkConnection::kNone) return;
  TemplateSequenceItem item{.which = to == ModelChunkConnection::kMessage
                                         ? store_.send(passing(sequence))
                                         : store_.template_handing_over_residual_stream(),
                            .after = {source},
                            .inputs = {{source, 0}}};
  if (to == ModelChunkConnection::kSamePosition) item.units = {kResidualToNextChunkNumber};
  append(sequence, std::move(item));
}

}  // namespace stepwright::step
