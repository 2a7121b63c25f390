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

/// For each kind of communication group of a plan (`plan::CommunicatorKind`): where its ranks lie
/// in the cluster.
using Layouts = std::array<cluster::GroupLayout, plan::kGroupKinds>;

/// Builds the operator templates of a plan's blocks, and computes their seconds and bytes
/// (`ModelBlockCosts`).
class ModelBlockPricer {
 public:
  ModelBlockPricer(const plan::Job& job, const cost::CostModel& cost)
      : job_(job),
        cost_(cost),
        prices_(cost),
        held_load_(memory::assumed_expert_load(job)),
        grows_(step::has_unequal_lengths(job)) {}

  /// Returns the seconds and bytes of a plan's embedding and head, and all parameter counts; the
  /// costs of layers are still missing, and `add` adds them.
  [[nodiscard]] ModelBlockCosts block_costs_without_layers(const plan::Plan& plan,
                                                           const Layouts& layouts);
  /// Returns the seconds and bytes of a layer of the class `which` (layers with equal operators)
  /// with one kind of recomputation.
  [[nodiscard]] BlockPairCost layer_cost(model::LayerClass which,
                                         const plan::LayerRecompute& recompute,
                                         const plan::Plan& plan, const Layouts& layouts);
  /// Adds to `blocks` the seconds and bytes, with one kind of recomputation, of those layer classes
  /// (layers with equal operators) that lack them.
  void add(ModelBlockCosts& blocks, const plan::LayerRecompute& recompute, const plan::Plan& plan,
           const Layouts& layouts);
  /// Adds to `blocks` the costs of running the forward of a layer at the same time as a backward of
  /// another layer, for every two classes of layers (layers with equal operators).
  void add_paired_layer_costs(ModelBlockCosts& blocks, const plan::LayerRecompute& recompute,
                              const plan::Plan& plan, const Layouts& layouts);
  /// Adds to `blocks` the costs of layers whose backward is split into data gradients and weight
  /// gradients, for every class of layers (layers with equal operators).
  void add_split_backward_costs(ModelBlockCosts& blocks, const plan::LayerRecompute& recompute,
                                const plan::Plan& plan, const Layouts& layouts);

 private:
  /// Facts of a plan that decide the seconds of a block (layer, embedding or head): where the ranks
  /// of its groups lie, the algorithms of its messages, and the loads of experts.
  struct ModelBlockPricingContext {
    const Layouts& layouts;
    const plan::CollectiveAlgorithmChoices& collectives;
    double busiest = 1;  ///< Load (rows) of the busiest expert rank divided by the mean load.
    /// Load of the busiest expert rank for which memory is reserved, divided by the mean load.
    double held = 1;
  };
  [[nodiscard]] ModelBlockPricingContext where_of(const plan::Plan& plan,
                                                  const Layouts& layouts) const;
  [[nodiscard]] BlockPairCost price(const step::ModelBlockTemplatePair& pair,
                                    const ModelBlockPricingContext& where);
  [[nodiscard]] ModelBlockPassCost price(const step::OperatorTemplate& piece,
                                         const ModelBlockPricingContext& where);
  [[nodiscard]] ModelBlockCosts::VocabularyPartCost part(
      const step::ModelBlockTemplatePair& pair, const step::ModelBlockParameterCounts& size,
      const ModelBlockPricingContext& where);
  [[nodiscard]] VocabularyPassCost price_pass(const step::VocabularyPass& pass,
                                              const ModelBlockPricingContext& where);
  void take_times(const step::OperatorTemplate& piece, const ModelBlockPricingContext& where);
  /// Returns how the seconds of a template (operators of a block in one direction) grow with the
  /// size of a micro-batch: extra seconds of the template `larger` divided by its relative growth
  /// in size. `own_s`: seconds without growth.
  [[nodiscard]] double template_growth_seconds_per_token_growth(
      const step::OperatorTemplate& larger, const ModelBlockPricingContext& where, double own_s);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  cost::OperatorTimeCache prices_;
  /// Load of the busiest expert rank for which memory is reserved, divided by the mean load.
  double held_load_;
  /// True if micro-batches have unequal lengths: costs of blocks then also say how they grow with
  /// the number of tokens.
  bool grows_;
  IsolatedStageSimulator runner_;
  std::vector<cost::OperatorTime> times_;
  ModelBlockTimeBoundCalculator bounds_;
};

/// Returns the sets of modules that the pipeline ranks of a plan recompute, ascending, except the
/// three common ones: none, the core of attention, and everything.
std::vector<plan::RecomputeModuleSet> recomputed_module_sets(
    const plan::ActivationRecomputation& recompute);

}  // namespace stepwright::simulate
