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

/// Group layouts of a plan, by kind.
using Layouts = std::array<cluster::GroupLayout, plan::kGroupKinds>;

/// Builds and prices the templates behind `BlockCosts`.
class BlockPricer {
 public:
  BlockPricer(const plan::Job& job, const cost::CostModel& cost)
      : job_(job),
        cost_(cost),
        prices_(cost),
        held_load_(memory::held_load(job)),
        grows_(step::has_unequal_lengths(job)) {}

  /// Embedding, head and the sizes; layers without costs yet.
  [[nodiscard]] BlockCosts start(const plan::Plan& plan, const Layouts& layouts);
  /// Adds one kind of recomputation to every layer class.
  void add(BlockCosts& blocks, const plan::LayerRecompute& recompute, const plan::Plan& plan,
           const Layouts& layouts);
  /// Adds forwards beside backwards, of every two classes.
  void add_pairs(BlockCosts& blocks, const plan::LayerRecompute& recompute, const plan::Plan& plan,
                 const Layouts& layouts);
  /// Adds the two parts of its backward.
  void add_split(BlockCosts& blocks, const plan::LayerRecompute& recompute, const plan::Plan& plan,
                 const Layouts& layouts);

 private:
  /// The place of messages, and what carries them out.
  struct Where {
    const Layouts& layouts;
    const plan::Collectives& collectives;
    double busiest = 1;  ///< Load of the busiest expert rank.
    double held = 1;     ///< Load for which memory is set aside.
  };
  [[nodiscard]] Where where_of(const plan::Plan& plan, const Layouts& layouts) const;
  [[nodiscard]] BlockPairCost price(const step::BlockPair& pair, const Where& where);
  [[nodiscard]] BlockCost price(const step::Template& piece, const Where& where);
  [[nodiscard]] BlockCosts::Part part(const step::BlockPair& pair, const step::UnitSize& size,
                                      const Where& where);
  [[nodiscard]] PassCost price_pass(const step::VocabularyPass& pass, const Where& where);
  void take_times(const step::Template& piece, const Where& where);
  /// By how much a template of larger micro-batches is longer, over their share more.
  [[nodiscard]] double growth_s(const step::Template& larger, const Where& where, double own_s);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  cost::PriceTable prices_;
  double held_load_;  ///< Load of spread experts that memory is kept for.
  bool grows_;        ///< Micro-batches have unequal lengths.
  AloneRunner runner_;
  std::vector<cost::OperatorTime> times_;
  BlockBounds bounds_;
};

/// The sets of modules that a plan's positions recompute, beside nothing, the core of attention and
/// all; ascending.
std::vector<plan::ModuleSet> listed_modules(const plan::Recompute& recompute);

}  // namespace stepwright::simulate
