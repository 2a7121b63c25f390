#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "stepwright/simulate/price/block_costs.h"

namespace stepwright::simulate {

/// Cache of the seconds and bytes of a job's blocks (layers, embedding, head): each computed once,
/// shared by any number of threads. References to entries stay valid when entries are added.
class ModelBlockCostCache {
 public:
  /// Cache key: everything in a plan on which the seconds and bytes of its blocks (layers,
  /// embedding, head) depend.
  struct ModelBlockCostKey {
    std::int64_t tensor, context, expert, expert_tensor, micro_batch;
    /// Numbers of pipeline and of data-parallel ranks; 0 in the default rank order, in which they
    /// do not change where the ranks of other groups lie.
    std::int64_t pipeline, data;
    bool staged;  ///< True if the plan has more than one pipeline stage.
    /// Number of pipeline ranks that each hold a part of the vocabulary; 1: it is not split.
    std::int64_t spread;
    /// How often, for each micro-batch, pipeline ranks that share the vocabulary wait for each
    /// other (`PipelineScheduleTraits::barriers`); 0: no such schedule.
    std::int64_t barriers;
    bool sequence_parallel;
    DType accumulate;  ///< Type in which gradients are accumulated.
    /// The overlap choices that change the cost of blocks (`block_relevant_overlap_flags`).
    plan::OverlapFlags overlap;
    plan::GatheredInputPolicy tensor_input;
    plan::ContextKind context_kind;
    collective::CollectiveAlgorithm tensor_algorithm, context_algorithm, expert_algorithm;
    plan::RankOrder order;
    plan::OffloadModuleSet offloaded;
    /// Sets of recomputed modules that are priced in addition to the common ones, as in
    /// `ModelBlockCosts::listed`.
    std::vector<plan::RecomputeModuleSet> listed;
    auto operator<=>(const ModelBlockCostKey&) const = default;
  };
  static ModelBlockCostKey key_of(const plan::Plan& plan);

  /// Returns the block costs of a plan with the kinds of recomputation that the plan uses; `pricer`
  /// computes those that are not known yet. An error of the builders is thrown by later calls, too:
  /// costs that were only partly computed are never returned.
  const ModelBlockCosts& get(const plan::Plan& plan, const Layouts& layouts,
                             ModelBlockPricer& pricer);

  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::mutex mutex;  ///< Lock held by the thread that computes the costs of this cache entry.
    ModelBlockCosts costs;
    /// Error with which the computation of this cache entry's costs failed; null: none.
    std::exception_ptr failure;
  };
  Entry& entry(const ModelBlockCostKey& key);
  /// Costs of layers without experts.
  struct DenseLayers {
    /// Lock held by the thread that computes the costs of layers without experts.
    std::mutex mutex;
    std::map<std::pair<model::LayerClass, plan::LayerRecompute>, BlockPairCost> costs;
  };
  /// Adds to `blocks` the costs of layers without experts, which plans with other expert degrees,
  /// expert overlap or algorithms of expert messages share.
  void add_dense_layers(ModelBlockCosts& blocks, const plan::LayerRecompute& recompute,
                        const plan::Plan& plan, const Layouts& layouts, ModelBlockPricer& pricer);

  mutable std::mutex mutex_;
  std::map<ModelBlockCostKey, Entry> entries_;
  /// Costs of layers without experts, by a cache key without the choices for experts, so that plans
  /// that differ in these share them.
  std::map<ModelBlockCostKey, DenseLayers> dense_;
};

}  // namespace stepwright::simulate
