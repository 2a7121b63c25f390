#pragma once

#include <span>
#include <vector>

#include "stepwright/cost/price_table.h"
#include "stepwright/memory/memory.h"
#include "stepwright/simulate/price/block_floor.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/timeline/alone.h"
#include "stepwright/step/document_sizes.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/unit.h"
#include "stepwright/step/vocabulary_passes.h"

namespace stepwright::simulate {

/// Layouts of a plan's groups, by kind of group.
using Layouts = std::array<cluster::GroupLayout, plan::kGroupKinds>;

/// Builds the templates of blocks and prices them into `BlockCosts`.
class BlockPricer {
 public:
  BlockPricer(const plan::Job& job, const cost::CostModel& cost)
      : job_(job),
        cost_(cost),
        prices_(cost),
        held_load_(memory::assumed_expert_load(job)),
        grows_(step::has_unequal_lengths(job)) {}

  /// Returns costs with embedding, head and all sizes; the layers have no costs yet (`add`).
  [[nodiscard]] BlockCosts start(const plan::Plan& plan, const Layouts& layouts);
  /// Prices every layer class with one kind of recomputation, and adds the costs to `blocks`.
  void add(BlockCosts& blocks, const plan::LayerRecompute& recompute, const plan::Plan& plan,
           const Layouts& layouts);
  /// Adds the costs of a forward beside a backward, for every two layer classes.
  void add_pairs(BlockCosts& blocks, const plan::LayerRecompute& recompute, const plan::Plan& plan,
                 const Layouts& layouts);
  /// Adds the costs of the two parts of a backward that is cut in two, for every layer class.
  void add_split(BlockCosts& blocks, const plan::LayerRecompute& recompute, const plan::Plan& plan,
                 const Layouts& layouts);

 private:
  /// The circumstances of a price: where groups lie, and the algorithms of their messages.
  struct Where {
    const Layouts& layouts;
    const plan::Collectives& collectives;
    double busiest = 1;  ///< Load of the busiest expert rank over the mean.
    double held = 1;     ///< Load of experts, over the mean, for which memory is reserved.
  };
  [[nodiscard]] Where where_of(const plan::Plan& plan, const Layouts& layouts) const;
  [[nodiscard]] BlockPairCost price(const step::BlockPair& pair, const Where& where);
  [[nodiscard]] BlockCost price(const step::Template& piece, const Where& where);
  [[nodiscard]] BlockCosts::Part part(const step::BlockPair& pair, const step::UnitSize& size,
                                      const Where& where);
  [[nodiscard]] PassCost price_pass(const step::VocabularyPass& pass, const Where& where);
  void take_times(const step::Template& piece, const Where& where);
  /// Returns how much longer a template takes with larger micro-batches, divided by their relative
  /// growth.
  [[nodiscard]] double growth_s(const step::Template& larger, const Where& where, double own_s);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  cost::PriceTable prices_;
  /// Load of experts that are spread over ranks, over the mean, for which memory is reserved.
  double held_load_;
  bool grows_;  ///< True if micro-batches have unequal lengths.
  AloneRunner runner_;
  std::vector<cost::OperatorTime> times_;
  BlockBounds bounds_;
};

/// Returns the sets of modules that a plan's positions recompute, ascending, other than nothing,
/// the core of attention, and everything.
std::vector<plan::ModuleSet> listed_modules(const plan::Recompute& recompute);

}  // namespace stepwright::simulate
