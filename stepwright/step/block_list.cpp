#include "stepwright/step/block_list.h"

#include <algorithm>
#include <utility>

#include "stepwright/step/split_backward.h"

namespace stepwright {
namespace {

/// Which output of a backward template holds gradients that leave; -1 when none do.
std::int32_t gradient_output(const std::vector<Template>& templates, TemplateId which) {
  const Template& piece = templates[static_cast<std::size_t>(which)];
  for (std::size_t i = 0; i < piece.outputs.size(); ++i) {
    const Tensor& tensor = piece.tensors[static_cast<std::size_t>(piece.outputs[i])];
    if (tensor.kind == TensorKind::kGathered) return static_cast<std::int32_t>(i);
  }
  return -1;
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

Block TemplateStore::add(BlockPair pair, bool split) {
  Block block;
  block.size = unit_size(pair.forward.parameters);
  block.forward = add(std::move(pair.forward));
  if (!split) {
    block.backward = add(std::move(pair.backward));
    return block;
  }
  SplitBackward parts = split_backward(pair.backward);
  block.backward = add(std::move(parts.data));
  block.weight = add(std::move(parts.weight));
  return block;
}

Block TemplateStore::embedding() {
  Block block = add(build_embedding(s_), false);
  block.unit = kEmbeddingUnit;
  return block;
}

Block TemplateStore::head(bool own_table) {
  Block block = add(build_head(s_, own_table), false);
  block.unit = kHeadUnit;
  return block;
}

Block TemplateStore::layer(std::int64_t index, RecomputeKind recompute) {
  const LayerClass which = s_.model->layer_class(index);
  const auto key = std::make_pair(which, recompute);
  auto found = layers_.find(key);
  if (found == layers_.end()) {
    found = layers_.emplace(key, add(build_layer(s_, which, recompute), split_)).first;
  }
  Block block = found->second;
  block.layer = static_cast<std::int32_t>(index);
  block.unit = block.layer;
  return block;
}

TemplateId TemplateStore::send(Direction direction) {
  const auto [entry, fresh] = messages_.try_emplace({true, direction}, -1);
  if (fresh) entry->second = add(build_send(s_, direction));
  return entry->second;
}

TemplateId TemplateStore::receive(Direction direction) {
  const auto [entry, fresh] = messages_.try_emplace({false, direction}, -1);
  if (fresh) entry->second = add(build_receive(s_, direction));
  return entry->second;
}

TemplateId TemplateStore::gather(const ShardingBuilder& sharding, const UnitSize& unit,
                                 bool first_use) {
  const std::vector<std::int64_t> key{unit.dense, unit.expert, unit.borrowed, first_use ? 1 : 0};
  const auto [entry, fresh] = gathers_.try_emplace(key, -1);
  if (fresh) {
    Template piece = sharding.gather(unit, first_use);
    if (!piece.operators.empty()) entry->second = add(std::move(piece));
  }
  return entry->second;
}

TemplateId TemplateStore::reduce(const ShardingBuilder& sharding,
                                 const std::vector<UnitSize>& bucket, bool last) {
  std::vector<std::int64_t> key{last ? 1 : 0};
  for (const UnitSize& unit : bucket) {
    key.insert(key.end(), {unit.dense, unit.expert, unit.borrowed});
  }
  const auto [entry, fresh] = reductions_.try_emplace(std::move(key), -1);
  if (fresh) {
    Template piece = sharding.reduce(bucket, last);
    if (!piece.operators.empty()) entry->second = add(std::move(piece));
  }
  return entry->second;
}

std::int32_t SequenceWriter::append_gather(Sequence& sequence, const Block& block, bool first,
                                           const Progress& progress) {
  const bool postponed = first && refreshes_in_blocks(plan_) && sharding_.gathers_after_step();
  if (!postponed && !sharding_.gathers_each_use()) return -1;
  const TemplateId which = store_.gather(sharding_, block.size, postponed);
  if (which < 0) return -1;
  // Gathered blocks live in two buffers: a gather waits until the block before the last is done.
  // What only refreshes resident parameters has no buffer to wait for.
  std::vector<std::int32_t> after;
  const std::size_t ahead = plan_.overlap.parameters ? 2 : 1;
  const std::vector<std::int32_t>& done = progress.done;
  if (sharding_.gathers_each_use() && done.size() >= ahead) {
    after.push_back(done[done.size() - ahead]);
  }
  return append(sequence, {which, block.layer, std::move(after), {}, {block.unit}});
}

void SequenceWriter::append_block(Sequence& sequence, const Item& block, std::int32_t gather,
                                  Progress& progress) {
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

void SequenceWriter::append_reduction(Sequence& sequence, Bucket& bucket, bool last) {
  if (bucket.units.empty()) return;
  const TemplateId which = store_.reduce(sharding_, bucket.units, last);
  if (which >= 0) append(sequence, {which, -1, {bucket.after}, bucket.sources, bucket.ids});
  bucket = {};
}

Sequence SequenceWriter::forward(bool first) {
  Sequence sequence{.direction = Direction::kForward, .chunk = chunk_.index, .items = {}};
  Progress progress;
  if (chunk_.receives) {
    progress.source = append(sequence, {store_.receive(Direction::kForward), -1, {}, {}});
  }
  for (const Block& block : chunk_.blocks) {
    const std::int32_t gather = append_gather(sequence, block, first, progress);
    append_block(sequence, {block.forward, block.layer, {}, {}, {block.unit}}, gather, progress);
  }
  if (chunk_.sends) append_send(sequence, Direction::kForward, progress.source);
  return sequence;
}

bool SequenceWriter::splits() const {
  return std::ranges::any_of(chunk_.blocks, [](const Block& block) { return block.weight >= 0; });
}

/// Whether the reductions that end a step stand in a sequence that is the last of its kind.
bool SequenceWriter::ends_step(bool last) const {
  return last && sharding_.reduces_last_backward() && reduces_in_buckets(plan_);
}

/// Adds a block whose gradients the item at `progress` has completed to the reductions.
void SequenceWriter::collect(Sequence& sequence, Bucket& bucket, const Block& block,
                             const Progress& progress, bool last) {
  const bool ends = ends_step(last);
  if (!sharding_.reduces_each_backward() && !ends) return;
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

Sequence SequenceWriter::backward(bool last) {
  const Direction direction = splits() ? Direction::kDataGradient : Direction::kBackward;
  Sequence sequence{.direction = direction, .chunk = chunk_.index, .items = {}};
  Progress progress;
  Bucket bucket;
  if (chunk_.sends) {
    progress.source = append(sequence, {store_.receive(Direction::kBackward), -1, {}, {}});
  }
  for (auto block = chunk_.blocks.rbegin(); block != chunk_.blocks.rend(); ++block) {
    const std::int32_t gather = append_gather(sequence, *block, false, progress);
    append_block(sequence, {block->backward, block->layer, {}, {}, {block->unit}}, gather,
                 progress);
    if (block->weight < 0) collect(sequence, bucket, *block, progress, last);
  }
  append_reduction(sequence, bucket, ends_step(last));
  if (chunk_.receives) append_send(sequence, Direction::kBackward, progress.source);
  return sequence;
}

Sequence SequenceWriter::weight_gradients(bool last) {
  Sequence sequence{.direction = Direction::kWeightGradient, .chunk = chunk_.index, .items = {}};
  Progress progress;
  Bucket bucket;
  for (auto block = chunk_.blocks.rbegin(); block != chunk_.blocks.rend(); ++block) {
    if (block->weight < 0) continue;
    append_block(sequence, {block->weight, block->layer, {}, {}, {block->unit}}, -1, progress);
    collect(sequence, bucket, *block, progress, last);
  }
  append_reduction(sequence, bucket, ends_step(last));
  return sequence;
}

void SequenceWriter::append_send(Sequence& sequence, Direction direction, std::int32_t source) {
  append(sequence, {store_.send(direction), -1, {source}, {{source, 0}}});
}

}  // namespace stepwright
