#include "stepwright/simulate/price/block_store.h"

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::simulate {

ModelBlockCostCache::ModelBlockCostKey ModelBlockCostCache::key_of(const plan::Plan& plan) {
  const plan::ParallelismDegrees& size = plan.parallel;
  const bool usual = plan.rank_order == plan::RankOrder{};
  return {size.tensor,
          size.context,
          size.expert,
          size.expert_tensor,
          plan.micro_batch,
          usual ? 0 : size.pipeline,
          usual ? 0 : size.data,
          size.pipeline > 1,
          plan::vocabulary_table_pipeline_ranks(plan),
          schedule::traits_of(plan.schedule.kind).barriers,
          plan.sequence_parallel,
          plan.accumulate,
          plan::block_relevant_overlap_flags(plan.overlap),
          plan.tensor_input,
          plan.context_kind,
          plan.collectives.tensor,
          plan.collectives.context,
          plan.collectives.expert,
          plan.rank_order,
          plan.offload.activations,
          recomputed_module_sets(plan.recompute)};
}

ModelBlockCostCache::Entry& ModelBlockCostCache::entry(const ModelBlockCostKey& key) {
  const std::lock_guard lock(mutex_);
  return entries_[key];
}

std::size_t ModelBlockCostCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void ModelBlockCostCache::add_dense_layers(ModelBlockCosts& blocks,
                                           const plan::LayerRecompute& recompute,
                                           const plan::Plan& plan, const Layouts& layouts,
                                           ModelBlockPricer& pricer) {
  plan::Plan common = plan;
  common.parallel.expert = common.parallel.expert_tensor = 1;
  common.overlap.expert = plan::OverlapFlags{}.expert;
  common.overlap.shared_experts = plan::OverlapFlags{}.shared_experts;
  common.collectives.expert = plan::CollectiveAlgorithmChoices{}.expert;
  DenseLayers& dense = [&]() -> DenseLayers& {
    const std::lock_guard lock(mutex_);
    return dense_[key_of(common)];
  }();
  const std::size_t at = blocks.cost_index_of_recomputation(recompute);
  const std::lock_guard lock(dense.mutex);
  for (ModelBlockCosts::Layer& layer : blocks.layers) {
    if (layer.which.has_experts() || layer.with[at]) continue;
    auto known = dense.costs.find({layer.which, recompute});
    if (known == dense.costs.end()) {
      known = dense.costs
                  .emplace(std::pair(layer.which, recompute),
                           pricer.layer_cost(layer.which, recompute, plan, layouts))
                  .first;
    }
    layer.with[at] = std::make_unique<ModelBlockCosts::RecomputedLayerCost>();
    layer.with[at]->cost = known->second;
  }
}

const ModelBlockCosts& ModelBlockCostCache::get(const plan::Plan& plan, const Layouts& layouts,
                                                ModelBlockPricer& pricer) {
  Entry& entry = this->entry(key_of(plan));
  const std::lock_guard lock(entry.mutex);
  if (entry.failure) std::rethrow_exception(entry.failure);
  ModelBlockCosts& costs = entry.costs;
  const bool cut = schedule::splits_backward(plan.schedule);
  const auto add = [&](const plan::LayerRecompute& recompute) {
    add_dense_layers(costs, recompute, plan, layouts, pricer);
    pricer.add(costs, recompute, plan, layouts);
    if (cut) pricer.add_split_backward_costs(costs, recompute, plan, layouts);
    if (plan.schedule.strands > 1) pricer.add_paired_layer_costs(costs, recompute, plan, layouts);
  };
  try {
    if (costs.layers.empty()) costs = pricer.block_costs_without_layers(plan, layouts);
    plan::each_setting(plan.recompute, [&](const plan::ActivationRecomputation& setting) {
      add(plan::common_layer_recompute(setting));
      if (plan::recomputes_some_layers(setting)) add(plan::parts_recomputed_in_layers(setting));
    });
  } catch (...) {
    entry.failure = std::current_exception();
    throw;
  }
  return costs;
}

}  // namespace stepwright::simulate
