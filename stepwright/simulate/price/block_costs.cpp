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
step::StepBuildSettings block_setting(const plan::Job& job, const plan::Plan& plan) {
  plan::Plan unsharded = plan;
  unsharded.sharding = plan::Sharding{};
  step::StepBuildSettings setting =
      step::make_setting(job, unsharded, step::RepresentativeMicroBatch::kMean);
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

void ModelBlockPassCost::add(const ModelBlockPassCost& other, double count) {
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
  peak.raise_peak_bytes(other.peak, 0);
}

void ModelBlockPassCost::lower_to_smaller_costs(const ModelBlockPassCost& other) {
  for (double ModelBlockPassCost::* part :
       {&ModelBlockPassCost::seconds, &ModelBlockPassCost::floor_s, &ModelBlockPassCost::compute_s,
        &ModelBlockPassCost::kernels_s, &ModelBlockPassCost::stream_s,
        &ModelBlockPassCost::waiting_s, &ModelBlockPassCost::serial_s,
        &ModelBlockPassCost::retained_bytes, &ModelBlockPassCost::on_host_bytes}) {
    this->*part = std::min(this->*part, other.*part);
  }
  for (std::size_t i = 0; i < busy_s.size(); ++i) busy_s[i] = std::min(busy_s[i], other.busy_s[i]);
}

void ModelBlockPassCost::lower_bounds_for_shared_stream() {
  floor_s = stream_s = compute_s = kernels_s;
  waiting_s = 0;
}

const SplitBackwardCost& ModelBlockCosts::RecomputedLayerCost::split_backward_costs() const {
  static const SplitBackwardCost none;
  return cut ? *cut : none;
}

const ModelBlockCosts::RecomputedLayerCost& ModelBlockCosts::Layer::cost_at_place(
    std::size_t place) const {
  static const RecomputedLayerCost none;
  return with[place] ? *with[place] : none;
}

const ModelBlockPassCost& ModelBlockCosts::RecomputedLayerCost::backward_cost_of_direction(
    schedule::Direction direction) const {
  switch (direction) {
    case schedule::Direction::kDataGradient: return split_backward_costs().data;
    case schedule::Direction::kWeightGradient: return split_backward_costs().weight;
    default: return cost.backward;
  }
}

ModelBlockPassCost ModelBlockCosts::RecomputedLayerCost::backward(
    schedule::BackwardSplitting form) const {
  if (form == schedule::BackwardSplitting::kWhole) return cost.backward;
  ModelBlockPassCost both = split_backward_costs().data;
  both.add(split_backward_costs().weight, 1);
  if (form == schedule::BackwardSplitting::kBoth) both.lower_to_smaller_costs(cost.backward);
  return both;
}

std::size_t ModelBlockCosts::cost_index_of_recomputation(
    const plan::LayerRecompute& recompute) const {
  for (std::size_t i = 0; i < std::size(kUsualRecomputes); ++i) {
    if (recompute == kUsualRecomputes[i]) return i;
  }
  const auto found = std::ranges::find(listed, recompute.modules);
  return std::size(kUsualRecomputes) + static_cast<std::size_t>(found - listed.begin());
}

std::vector<plan::RecomputeModuleSet> recomputed_module_sets(
    const plan::ActivationRecomputation& recompute) {
  std::vector<plan::RecomputeModuleSet> listed;
  plan::each_setting(recompute, [&](const plan::ActivationRecomputation& setting) {
    const plan::LayerRecompute own = plan::parts_recomputed_in_layers(setting);
    const bool usual =
        std::ranges::find(kUsualRecomputes, own) != std::ranges::end(kUsualRecomputes);
    if (!usual) listed.push_back(own.modules);
  });
  std::ranges::sort(listed);
  listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
  return listed;
}

ModelBlockPricer::ModelBlockPricingContext ModelBlockPricer::where_of(
    const plan::Plan& plan, const Layouts& layouts) const {
  const double busiest = plan::busiest_expert_rank_load(job_, plan.parallel.expert);
  const double held = plan.parallel.expert > 1 ? std::max(busiest, held_load_) : busiest;
  return {layouts, plan.collectives, busiest, held};
}

void ModelBlockPricer::take_times(const step::OperatorTemplate& piece,
                                  const ModelBlockPricingContext& where) {
  times_.clear();
  for (const step::Operator& op : piece.operators) {
    if (step::is_communication(op.kind)) {
      times_.push_back(cost_.price_template_operators(op, where.layouts, where.collectives));
    } else {
      times_.push_back({.seconds = op.repeats * prices_.cached_operator_seconds(op)});
    }
  }
}

double ModelBlockPricer::template_growth_seconds_per_token_growth(
    const step::OperatorTemplate& larger, const ModelBlockPricingContext& where, double own_s) {
  take_times(larger, where);
  cost_.add_host_launch_waits(larger, where.layouts, times_);
  const double duration_s =
      runner_.simulate_template_in_isolation(larger, times_, cost_.contention()).duration_s;
  return std::max(0.0, duration_s - own_s) / (step::kMicroBatchGrowthFactor - 1);
}

ModelBlockPassCost ModelBlockPricer::price(const step::OperatorTemplate& piece,
                                           const ModelBlockPricingContext& where) {
  ModelBlockPassCost cost;
  take_times(piece, where);
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    if (step::is_communication(op.kind) || step::operator_involves_host(op.kind)) continue;
    cost.kernels_s += times_[i].seconds;
  }
  cost_.add_host_launch_waits(piece, where.layouts, times_);
  for (std::size_t i = 0; i < times_.size(); ++i) {
    cost.serial_s += times_[i].seconds;
    if (piece.operators[i].stream == step::DeviceStream::kCompute)
      cost.stream_s += times_[i].seconds;
  }
  const IsolatedStageSeconds alone =
      runner_.simulate_template_in_isolation(piece, times_, cost_.contention());
  cost.seconds = alone.duration_s;
  cost.compute_s = alone.compute_s;
  cost.busy_s = alone.link_busy_s;
  const ModelBlockTimeLowerBound floor = bounds_.of(piece, times_, cost_.contention());
  cost.floor_s = floor.seconds;
  cost.waiting_s = floor.waiting_s;
  const memory::OperatorTemplateMemory memory =
      memory::template_memory_footprint(piece, where.held);
  cost.retained_bytes = sum(memory.retained);
  for (const step::TensorId id : piece.saved) {
    const step::TemplateTensor& tensor = piece.tensors[static_cast<std::size_t>(id)];
    cost.on_host_bytes +=
        memory::max_tensor_bytes_over_ranks(tensor, where.busiest, memory::MemoryPlace::kHost);
  }
  cost.peak = {memory.peak_bytes, memory.peak_using_parameters_bytes};
  if (grows_)
    cost.template_growth_s = template_growth_seconds_per_token_growth(
        step::scale_template_tokens(piece, step::kMicroBatchGrowthFactor), where, cost.seconds);
  if (job_.documents) {
    cost.pairs_growth_s = template_growth_seconds_per_token_growth(
        step::scale_template_query_key_pairs(piece, step::kMicroBatchGrowthFactor), where,
        cost.seconds);
  }
  return cost;
}

BlockPairCost ModelBlockPricer::price(const step::ModelBlockTemplatePair& pair,
                                      const ModelBlockPricingContext& where) {
  return {price(pair.forward, where), price(pair.backward, where)};
}

/// Prices a pass over the vocabulary. Computations between its messages run beside the compute
/// stream, and the messages that it awaits there belong to no block.
VocabularyPassCost ModelBlockPricer::price_pass(const step::VocabularyPass& pass,
                                                const ModelBlockPricingContext& where) {
  VocabularyPassCost result{.direction = pass.direction, .cost = price(pass.piece, where)};
  take_times(pass.piece, where);
  cost_.add_host_launch_waits(pass.piece, where.layouts, times_);
  const IsolatedStageSeconds alone =
      runner_.simulate_template_in_isolation(pass.piece, times_, cost_.contention());
  ModelBlockPassCost& cost = result.cost;
  cost.seconds = alone.compute_end_s;
  result.message_s = alone.duration_s - alone.compute_end_s;
  cost.compute_s = cost.kernels_s = cost.waiting_s = 0;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const step::Operator& op = pass.piece.operators[i];
    const bool computes =
        !step::is_communication(op.kind) && op.stream == step::DeviceStream::kCompute;
    if (computes) cost.compute_s += times_[i].seconds;
  }
  cost.floor_s = cost.kernels_s = cost.compute_s;
  result.is_there = !pass.piece.outputs.empty() || !pass.piece.operators.empty();
  return result;
}

ModelBlockCosts::VocabularyPartCost ModelBlockPricer::part(
    const step::ModelBlockTemplatePair& pair, const step::ModelBlockParameterCounts& size,
    const ModelBlockPricingContext& where) {
  ModelBlockCosts::VocabularyPartCost part{.cost = {}, .size = size, .passes = {}};
  if (pair.forward_passes.empty()) {
    part.cost = price(pair, where);
    return part;
  }
  for (const step::VocabularyPass& pass : step::split_vocabulary_passes(pair))
    part.passes.push_back(price_pass(pass, where));
  return part;
}

ModelBlockCosts ModelBlockPricer::block_costs_without_layers(const plan::Plan& plan,
                                                             const Layouts& layouts) {
  const step::StepBuildSettings setting = block_setting(job_, plan);
  const ModelBlockPricingContext where = where_of(plan, layouts);
  ModelBlockCosts blocks;
  blocks.listed = recomputed_module_sets(plan.recompute);
  for (const model::LayerClass which : model::layer_order(job_.model).classes) {
    ModelBlockCosts::Layer& layer = blocks.layers.emplace_back();
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
  blocks.embedding = price(step::build_embedding_templates(setting, false), where);
  blocks.whole_embedding = job_.model.encodes_images()
                               ? price(step::build_embedding_templates(setting, true), where)
                               : blocks.embedding;
  const step::ModelBlockTemplatePair head = step::build_head_templates(setting, false);
  blocks.head = price(head, where);
  if (!head.deferred.operators.empty()) {
    blocks.head_gradient = price(head.deferred, where);
    // Bytes that a cut backward keeps are freed between turns, but these bytes are not.
    blocks.head_gradient.retained_bytes = std::exchange(blocks.head.backward.retained_bytes, 0.0);
  }
  blocks.sent_bytes =
      static_cast<double>(step::build_pipeline_send_template(setting, schedule::Direction::kForward)
                              .operators.front()
                              .payload_bytes());
  for (const step::Operator& op :
       step::build_pipeline_receive(setting, schedule::Direction::kForward).operators) {
    if (op.kind == step::OperatorKind::kReceive) continue;
    blocks.arrival_s +=
        cost_.price_template_operators(op, where.layouts, where.collectives).seconds;
  }
  blocks.embedding_size = step::unit_size(setting, step::local_embedding_parameters(setting));
  blocks.head_size = step::unit_size(setting, step::local_head_parameters(setting, false));
  blocks.split_head_size = step::unit_size(setting, step::local_head_parameters(setting, true));
  for (const bool at_end : {false, true}) {
    if (setting.spread == 1) break;
    const std::size_t at = at_end ? 1 : 0;
    blocks.embedding_parts[at] =
        part(step::build_embedding_templates(setting, false, at_end),
             step::unit_size(setting, step::local_embedding_parameters(setting, at_end)), where);
    blocks.head_parts[at] =
        part(step::build_head_templates(setting, false, at_end),
             step::unit_size(setting, step::local_head_parameters(setting, false, at_end)), where);
  }
  return blocks;
}

BlockPairCost ModelBlockPricer::layer_cost(model::LayerClass which,
                                           const plan::LayerRecompute& recompute,
                                           const plan::Plan& plan, const Layouts& layouts) {
  return price(step::build_layer_templates(block_setting(job_, plan), which, recompute),
               where_of(plan, layouts));
}

void ModelBlockPricer::add(ModelBlockCosts& blocks, const plan::LayerRecompute& recompute,
                           const plan::Plan& plan, const Layouts& layouts) {
  const std::size_t at = blocks.cost_index_of_recomputation(recompute);
  for (ModelBlockCosts::Layer& layer : blocks.layers) {
    if (layer.with[at]) continue;
    layer.with[at] = std::make_unique<ModelBlockCosts::RecomputedLayerCost>();
    layer.with[at]->cost = layer_cost(layer.which, recompute, plan, layouts);
  }
  if (blocks.multi_tokens == 0 || blocks.multi_token.with[at]) return;
  const step::StepBuildSettings setting = block_setting(job_, plan);
  // The last multi-token layer receives no gradient from another one, and so holds the least.
  const step::ModelBlockTemplatePair last =
      step::build_multi_token_layer_templates(setting, blocks.multi_tokens - 1, false, recompute);
  blocks.multi_token.with[at] = std::make_unique<ModelBlockCosts::RecomputedLayerCost>();
  blocks.multi_token.with[at]->cost = price(last, where_of(plan, layouts));
}

void ModelBlockPricer::add_paired_layer_costs(ModelBlockCosts& blocks,
                                              const plan::LayerRecompute& recompute,
                                              const plan::Plan& plan, const Layouts& layouts) {
  const std::size_t at = blocks.cost_index_of_recomputation(recompute);
  if (blocks.layers.empty()) return;
  const schedule::Beside<ModelBlockPassCost>& known = blocks.layers.front().cost_at_place(at).pairs;
  const bool whole = known.backward.empty();
  const bool parts = schedule::traits_of(plan.schedule.kind).braids && known.data.empty();
  if (!whole && !parts) return;
  const step::StepBuildSettings setting = block_setting(job_, plan);
  const step::RoughOperatorSeconds seconds(job_, plan::RankGrid(plan));
  std::vector<step::ModelBlockTemplatePair> classes;
  for (const ModelBlockCosts::Layer& layer : blocks.layers) {
    classes.push_back(step::build_layer_templates(setting, layer.which, recompute));
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const step::OperatorTemplate& forward = classes[i].forward;
    const auto beside = [&](const step::OperatorTemplate& other) {
      const step::PairOrder order = step::interleaved_issue_order(forward, other, seconds);
      return price(step::merge_forward_backward_templates(forward, other, order),
                   where_of(plan, layouts));
    };
    schedule::Beside<ModelBlockPassCost>& pairs = blocks.layers[i].with[at]->pairs;
    for (const step::ModelBlockTemplatePair& other : classes) {
      if (whole) pairs.backward.push_back(beside(other.backward));
      if (!parts) continue;
      const step::SplitBackwardTemplates split = step::split_backward(other.backward);
      pairs.data.push_back(beside(split.data));
      pairs.weight.push_back(beside(split.weight));
    }
  }
}

void ModelBlockPricer::add_split_backward_costs(ModelBlockCosts& blocks,
                                                const plan::LayerRecompute& recompute,
                                                const plan::Plan& plan, const Layouts& layouts) {
  const std::size_t at = blocks.cost_index_of_recomputation(recompute);
  if (blocks.layers.empty() || blocks.layers.front().cost_at_place(at).cut) return;
  const step::StepBuildSettings setting = block_setting(job_, plan);
  const ModelBlockPricingContext where = where_of(plan, layouts);
  for (ModelBlockCosts::Layer& layer : blocks.layers) {
    const step::SplitBackwardTemplates parts =
        step::split_backward(step::build_layer_templates(setting, layer.which, recompute).backward);
    layer.with[at]->cut = std::make_unique<const SplitBackwardCost>(
        SplitBackwardCost{price(parts.data, where), price(parts.weight, where)});
  }
}

}  // namespace stepwright::simulate
