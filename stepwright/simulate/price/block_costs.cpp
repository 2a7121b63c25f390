#include "stepwright/simulate/price/block_costs.h"

#include <algorithm>
#include <utility>

#include "stepwright/memory/lifetimes.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/step/pair.h"
#include "stepwright/step/rough_seconds.h"
#include "stepwright/step/split_backward.h"
#include "stepwright/step/token_growth.h"

namespace stepwright::simulate {
namespace {

/// Returns the setting of a plan's blocks without sharding: data-parallel messages are laid over
/// the blocks later.
step::Setting block_setting(const plan::Job& job, const plan::Plan& plan) {
  plan::Plan unsharded = plan;
  unsharded.sharding = plan::Sharding{};
  step::Setting setting = step::make_setting(job, unsharded, step::RepresentativeMicroBatch::kMean);
  setting.copies_gradients = false;
  setting.gather_dense = setting.gather_expert = false;
  setting.reduce_dense = setting.reduce_expert = false;
  return setting;
}

/// Kinds of recomputation that blocks are always priced with, in addition to the module sets that a
/// plan lists.
constexpr plan::LayerRecompute kUsualRecomputes[] = {plan::kNoRecompute, plan::kCoreRecompute,
                                                     plan::kWholeRecompute};

double sum(const memory::KindBytes& bytes) {
  double total = 0;
  for (const double value : bytes) total += value;
  return total;
}

}  // namespace

void BlockCost::add(const BlockCost& other, double count) {
  seconds += count * other.seconds;
  floor_s += count * other.floor_s;
  compute_s += count * other.compute_s;
  kernels_s += count * other.kernels_s;
  stream_s += count * other.stream_s;
  pairs_growth_s += count * other.pairs_growth_s;
  template_growth_s += count * other.template_growth_s;
  waiting_s += count * other.waiting_s;
  serial_s += count * other.serial_s;
  for (int i = 0; i < cost::kLinkClasses; ++i) {
    busy_s[static_cast<std::size_t>(i)] += count * other.busy_s[static_cast<std::size_t>(i)];
  }
  retained_bytes += count * other.retained_bytes;
  on_host_bytes += count * other.on_host_bytes;
  peak.keep(other.peak, 0);
}

void BlockCost::lower_to_minimum_cost(const BlockCost& other) {
  for (double BlockCost::* part :
       {&BlockCost::seconds, &BlockCost::floor_s, &BlockCost::compute_s, &BlockCost::kernels_s,
        &BlockCost::stream_s, &BlockCost::waiting_s, &BlockCost::serial_s,
        &BlockCost::retained_bytes, &BlockCost::on_host_bytes}) {
    this->*part = std::min(this->*part, other.*part);
  }
  for (std::size_t i = 0; i < busy_s.size(); ++i) busy_s[i] = std::min(busy_s[i], other.busy_s[i]);
}

void BlockCost::lower_bounds_for_shared_stream() {
  floor_s = stream_s = compute_s = kernels_s;
  waiting_s = 0;
}

const SplitBackwardCost& BlockCosts::RecomputedLayerCost::split() const {
  static const SplitBackwardCost none;
  return cut ? *cut : none;
}

const BlockCosts::RecomputedLayerCost& BlockCosts::Layer::of(std::size_t place) const {
  static const RecomputedLayerCost none;
  return with[place] ? *with[place] : none;
}

const BlockCost& BlockCosts::RecomputedLayerCost::gradients(schedule::Direction direction) const {
  switch (direction) {
    case schedule::Direction::kDataGradient: return split().data;
    case schedule::Direction::kWeightGradient: return split().weight;
    default: return cost.backward;
  }
}

BlockCost BlockCosts::RecomputedLayerCost::backward(schedule::BackwardForm form) const {
  if (form == schedule::BackwardForm::kWhole) return cost.backward;
  BlockCost both = split().data;
  both.add(split().weight, 1);
  if (form == schedule::BackwardForm::kBoth) both.lower_to_minimum_cost(cost.backward);
  return both;
}

std::size_t BlockCosts::place(const plan::LayerRecompute& recompute) const {
  for (std::size_t i = 0; i < std::size(kUsualRecomputes); ++i) {
    if (recompute == kUsualRecomputes[i]) return i;
  }
  const auto found = std::ranges::find(listed, recompute.modules);
  return std::size(kUsualRecomputes) + static_cast<std::size_t>(found - listed.begin());
}

std::vector<plan::RecomputeModuleSet> recomputed_module_sets(const plan::Recompute& recompute) {
  std::vector<plan::RecomputeModuleSet> listed;
  plan::each_setting(recompute, [&](const plan::Recompute& setting) {
    const plan::LayerRecompute own = plan::recomputed_layer_part(setting);
    const bool usual =
        std::ranges::find(kUsualRecomputes, own) != std::ranges::end(kUsualRecomputes);
    if (!usual) listed.push_back(own.modules);
  });
  std::ranges::sort(listed);
  listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
  return listed;
}

BlockPricer::BlockPricingContext BlockPricer::where_of(const plan::Plan& plan,
                                                       const Layouts& layouts) const {
  const double busiest = plan::busiest_expert_rank_load(job_, plan.parallel.expert);
  const double held = plan.parallel.expert > 1 ? std::max(busiest, held_load_) : busiest;
  return {layouts, plan.collectives, busiest, held};
}

void BlockPricer::take_times(const step::Template& piece, const BlockPricingContext& where) {
  times_.clear();
  for (const step::Operator& op : piece.operators) {
    if (step::is_communication(op.kind)) {
      times_.push_back(cost_.price(op, where.layouts, where.collectives));
    } else {
      times_.push_back({.seconds = op.repeats * prices_.seconds(op)});
    }
  }
}

double BlockPricer::template_growth_s(const step::Template& larger,
                                      const BlockPricingContext& where, double own_s) {
  take_times(larger, where);
  cost_.add_host_launch_waits(larger, where.layouts, times_);
  const double duration_s = runner_.run(larger, times_, cost_.contention()).duration_s;
  return std::max(0.0, duration_s - own_s) / (step::kMicroBatchGrowthFactor - 1);
}

BlockCost BlockPricer::price(const step::Template& piece, const BlockPricingContext& where) {
  BlockCost cost;
  take_times(piece, where);
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    if (step::is_communication(op.kind) || step::involves_host(op.kind)) continue;
    cost.kernels_s += times_[i].seconds;
  }
  cost_.add_host_launch_waits(piece, where.layouts, times_);
  for (std::size_t i = 0; i < times_.size(); ++i) {
    cost.serial_s += times_[i].seconds;
    if (piece.operators[i].stream == step::Stream::kCompute) cost.stream_s += times_[i].seconds;
  }
  const IsolatedStageSeconds alone = runner_.run(piece, times_, cost_.contention());
  cost.seconds = alone.duration_s;
  cost.compute_s = alone.compute_s;
  cost.busy_s = alone.link_busy_s;
  const BlockTimeLowerBound floor = bounds_.of(piece, times_, cost_.contention());
  cost.floor_s = floor.seconds;
  cost.waiting_s = floor.waiting_s;
  const memory::TemplateMemoryFootprint memory =
      memory::template_memory_footprint(piece, where.held);
  cost.retained_bytes = sum(memory.retained);
  for (const step::TensorId id : piece.saved) {
    const step::Tensor& tensor = piece.tensors[static_cast<std::size_t>(id)];
    cost.on_host_bytes +=
        memory::tensor_bytes_on_busiest_rank(tensor, where.busiest, memory::MemoryPlace::kHost);
  }
  cost.peak = {memory.peak_bytes, memory.peak_using_parameters_bytes};
  if (grows_)
    cost.template_growth_s = template_growth_s(
        step::with_scaled_tokens(piece, step::kMicroBatchGrowthFactor), where, cost.seconds);
  if (job_.documents) {
    cost.pairs_growth_s =
        template_growth_s(step::with_scaled_query_key_pairs(piece, step::kMicroBatchGrowthFactor),
                          where, cost.seconds);
  }
  return cost;
}

BlockPairCost BlockPricer::price(const step::BlockTemplatePair& pair,
                                 const BlockPricingContext& where) {
  return {price(pair.forward, where), price(pair.backward, where)};
}

/// Prices a pass over the vocabulary. Computations between its messages run beside the compute
/// stream, and the messages that it awaits there belong to no block.
VocabularyPassCost BlockPricer::price_pass(const step::VocabularyPass& pass,
                                           const BlockPricingContext& where) {
  VocabularyPassCost result{.direction = pass.direction, .cost = price(pass.piece, where)};
  take_times(pass.piece, where);
  cost_.add_host_launch_waits(pass.piece, where.layouts, times_);
  const IsolatedStageSeconds alone = runner_.run(pass.piece, times_, cost_.contention());
  BlockCost& cost = result.cost;
  cost.seconds = alone.compute_end_s;
  result.message_s = alone.duration_s - alone.compute_end_s;
  cost.compute_s = cost.kernels_s = cost.waiting_s = 0;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const step::Operator& op = pass.piece.operators[i];
    const bool computes = !step::is_communication(op.kind) && op.stream == step::Stream::kCompute;
    if (computes) cost.compute_s += times_[i].seconds;
  }
  cost.floor_s = cost.kernels_s = cost.compute_s;
  result.is_there = !pass.piece.outputs.empty() || !pass.piece.operators.empty();
  return result;
}

BlockCosts::VocabularyPartCost BlockPricer::part(const step::BlockTemplatePair& pair,
                                                 const step::BlockParameterSizes& size,
                                                 const BlockPricingContext& where) {
  BlockCosts::VocabularyPartCost part{.cost = {}, .size = size, .passes = {}};
  if (pair.forward_passes.empty()) {
    part.cost = price(pair, where);
    return part;
  }
  for (const step::VocabularyPass& pass : step::split_vocabulary_passes(pair))
    part.passes.push_back(price_pass(pass, where));
  return part;
}

BlockCosts BlockPricer::start(const plan::Plan& plan, const Layouts& layouts) {
  const step::Setting setting = block_setting(job_, plan);
  const BlockPricingContext where = where_of(plan, layouts);
  BlockCosts blocks;
  blocks.listed = recomputed_module_sets(plan.recompute);
  for (const model::LayerClass which : model::layer_order(job_.model).classes) {
    BlockCosts::Layer& layer = blocks.layers.emplace_back();
    layer.which = which;
    layer.size = step::unit_size(setting, step::local_layer_parameters(setting, which));
    layer.with.resize(std::size(kUsualRecomputes) + blocks.listed.size());
  }
  blocks.multi_tokens = job_.model.extra_predicted_tokens();
  if (blocks.multi_tokens > 0) {
    blocks.multi_token.size =
        step::unit_size(setting, step::local_multi_token_parameters(setting, 0, false));
    blocks.split_multi_token_size =
        step::unit_size(setting, step::local_multi_token_parameters(setting, 0, true));
    blocks.multi_token.with.resize(blocks.layers.front().with.size());
  }
  blocks.embedding = price(step::build_embedding(setting, false), where);
  blocks.whole_embedding = job_.model.encodes_images()
                               ? price(step::build_embedding(setting, true), where)
                               : blocks.embedding;
  const step::BlockTemplatePair head = step::build_head(setting, false);
  blocks.head = price(head, where);
  if (!head.deferred.operators.empty()) {
    blocks.head_gradient = price(head.deferred, where);
    // Bytes that a cut backward keeps are freed between turns, but these bytes are not.
    blocks.head_gradient.retained_bytes = std::exchange(blocks.head.backward.retained_bytes, 0.0);
  }
  blocks.sent_bytes =
      static_cast<double>(step::build_pipeline_send(setting, schedule::Direction::kForward)
                              .operators.front()
                              .payload_bytes());
  for (const step::Operator& op :
       step::build_pipeline_receive(setting, schedule::Direction::kForward).operators) {
    if (op.kind == step::OperatorKind::kReceive) continue;
    blocks.arrival_s += cost_.price(op, where.layouts, where.collectives).seconds;
  }
  blocks.embedding_size = step::unit_size(setting, step::local_embedding_parameters(setting));
  blocks.head_size = step::unit_size(setting, step::local_head_parameters(setting, false));
  blocks.split_head_size = step::unit_size(setting, step::local_head_parameters(setting, true));
  for (const bool at_end : {false, true}) {
    if (setting.spread == 1) break;
    const std::size_t at = at_end ? 1 : 0;
    blocks.embedding_parts[at] =
        part(step::build_embedding(setting, false, at_end),
             step::unit_size(setting, step::local_embedding_parameters(setting, at_end)), where);
    blocks.head_parts[at] =
        part(step::build_head(setting, false, at_end),
             step::unit_size(setting, step::local_head_parameters(setting, false, at_end)), where);
  }
  return blocks;
}

void BlockPricer::add(BlockCosts& blocks, const plan::LayerRecompute& recompute,
                      const plan::Plan& plan, const Layouts& layouts) {
  const std::size_t at = blocks.place(recompute);
  if (blocks.layers.empty() || blocks.layers.front().with[at]) return;
  const step::Setting setting = block_setting(job_, plan);
  for (BlockCosts::Layer& layer : blocks.layers) {
    layer.with[at] = std::make_unique<BlockCosts::RecomputedLayerCost>();
    layer.with[at]->cost =
        price(step::build_layer(setting, layer.which, recompute), where_of(plan, layouts));
  }
  if (blocks.multi_tokens == 0) return;
  // The last multi-token layer receives no gradient from another one, and so holds the least.
  const step::BlockTemplatePair last =
      step::build_multi_token_layer(setting, blocks.multi_tokens - 1, false, recompute);
  blocks.multi_token.with[at] = std::make_unique<BlockCosts::RecomputedLayerCost>();
  blocks.multi_token.with[at]->cost = price(last, where_of(plan, layouts));
}

void BlockPricer::add_paired_layer_costs(BlockCosts& blocks, const plan::LayerRecompute& recompute,
                                         const plan::Plan& plan, const Layouts& layouts) {
  const std::size_t at = blocks.place(recompute);
  if (blocks.layers.empty()) return;
  const schedule::Beside<BlockCost>& known = blocks.layers.front().of(at).pairs;
  const bool whole = known.backward.empty();
  const bool parts = schedule::traits_of(plan.schedule.kind).braids && known.data.empty();
  if (!whole && !parts) return;
  const step::Setting setting = block_setting(job_, plan);
  const step::RoughOperatorSeconds seconds(job_, plan::Grid(plan));
  std::vector<step::BlockTemplatePair> classes;
  for (const BlockCosts::Layer& layer : blocks.layers) {
    classes.push_back(step::build_layer(setting, layer.which, recompute));
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const step::Template& forward = classes[i].forward;
    const auto beside = [&](const step::Template& other) {
      const step::PairOrder order = step::paired_operator_order(forward, other, seconds);
      return price(step::merge_forward_backward_templates(forward, other, order),
                   where_of(plan, layouts));
    };
    schedule::Beside<BlockCost>& pairs = blocks.layers[i].with[at]->pairs;
    for (const step::BlockTemplatePair& other : classes) {
      if (whole) pairs.backward.push_back(beside(other.backward));
      if (!parts) continue;
      const step::SplitBackward split = step::split_backward(other.backward);
      pairs.data.push_back(beside(split.data));
      pairs.weight.push_back(beside(split.weight));
    }
  }
}

void BlockPricer::add_split_backward_costs(BlockCosts& blocks,
                                           const plan::LayerRecompute& recompute,
                                           const plan::Plan& plan, const Layouts& layouts) {
  const std::size_t at = blocks.place(recompute);
  if (blocks.layers.empty() || blocks.layers.front().of(at).cut) return;
  const step::Setting setting = block_setting(job_, plan);
  const BlockPricingContext where = where_of(plan, layouts);
  for (BlockCosts::Layer& layer : blocks.layers) {
    const step::SplitBackward parts =
        step::split_backward(step::build_layer(setting, layer.which, recompute).backward);
    layer.with[at]->cut = std::make_unique<const SplitBackwardCost>(
        SplitBackwardCost{price(parts.data, where), price(parts.weight, where)});
  }
}

}  // namespace stepwright::simulate
