#pragma once

#include <span>
#include <vector>

#include "stepwright/cost/price_table.h"
#include "stepwright/memory/memory.h"
#include "stepwright/simulate/price/block_time_lower_bound.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/timeline/alone.h"
#include "stepwright/step/document_sizes.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/unit.h"
#include "stepwright/step/vocabulary_passes.h"

namespace stepwright::simulate {

/// Where the ranks of each kind of communication group of a plan lie in the cluster, indexed by
/// `plan::GroupKind`.
using Layouts = std::array<cluster::GroupLayout, plan::kGroupKinds>;

/// Builds the operator templates of a plan's blocks, and computes their seconds and bytes
/// (`BlockCosts`).
class BlockPricer {
 public:
  BlockPricer(const plan::Job& job, const cost::CostModel& cost)
      : job_(job),
        cost_(cost),
        prices_(cost),
        held_load_(memory::assumed_expert_load(job)),
        grows_(step::has_unequal_lengths(job)) {}

  /// Returns block costs with the embedding, the head and all sizes; the costs of layers are added
  /// by `add`.
  [[nodiscard]] BlockCosts start(const plan::Plan& plan, const Layouts& layouts);
  /// Computes the costs of every layer class with one kind of recomputation, and adds them to
  /// `blocks`.
  void add(BlockCosts& blocks, const plan::LayerRecompute& recompute, const plan::Plan& plan,
           const Layouts& layouts);
  /// Adds to `blocks` the costs of running the forward of a layer at the same time as a backward of
  /// another layer, for every two layer classes.
  void add_paired_layer_costs(BlockCosts& blocks, const plan::LayerRecompute& recompute,
                              const plan::Plan& plan, const Layouts& layouts);
  /// Adds to `blocks` the costs of backwards that are cut into data gradients and weight gradients,
  /// for every layer class.
  void add_split_backward_costs(BlockCosts& blocks, const plan::LayerRecompute& recompute,
                                const plan::Plan& plan, const Layouts& layouts);

 private:
  /// Facts of a plan on which the price of a block depends: where its groups lie, the algorithms of
  /// its messages, and the loads of experts.
  struct BlockPricingContext {
    const Layouts& layouts;
    const plan::Collectives& collectives;
    double busiest = 1;  ///< Load of the busiest expert rank over the mean load.
    double held = 1;     ///< Expert load, over the mean load, for which memory is reserved.
  };
  [[nodiscard]] BlockPricingContext where_of(const plan::Plan& plan, const Layouts& layouts) const;
  [[nodiscard]] BlockPairCost price(const step::BlockTemplatePair& pair,
                                    const BlockPricingContext& where);
  [[nodiscard]] BlockCost price(const step::Template& piece, const BlockPricingContext& where);
  [[nodiscard]] BlockCosts::VocabularyPartCost part(const step::BlockTemplatePair& pair,
                                                    const step::BlockParameterSizes& size,
                                                    const BlockPricingContext& where);
  [[nodiscard]] VocabularyPassCost price_pass(const step::VocabularyPass& pass,
                                              const BlockPricingContext& where);
  void take_times(const step::Template& piece, const BlockPricingContext& where);
  /// Returns by how many seconds a template gets longer with larger micro-batches, divided by their
  /// relative growth. `own_s`: seconds of the template with its own micro-batch.
  [[nodiscard]] double template_growth_s(const step::Template& larger,
                                         const BlockPricingContext& where, double own_s);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  cost::OperatorTimeCache prices_;
  /// Load of the busiest expert rank over the mean load, for which memory is reserved.
  double held_load_;
  /// True if micro-batches have unequal lengths, so that costs also need their growth with tokens.
  bool grows_;
  IsolatedStageSimulator runner_;
  std::vector<cost::OperatorTime> times_;
  BlockLowerBoundCalculator bounds_;
};

/// Returns the sets of modules that the positions of a plan recompute, ascending, except the three
/// common ones: none, the core of attention, and everything.
std::vector<plan::RecomputeModuleSet> recomputed_module_sets(const plan::Recompute& recompute);

}  // namespace stepwright::simulate
