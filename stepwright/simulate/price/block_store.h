#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "stepwright/simulate/price/block_costs.h"

namespace stepwright::simulate {

/// The block costs of one job, each priced once and shared by any number of threads. Adding to a
/// store leaves references to its entries valid.
class BlockStore {
 public:
  /// Cache key: everything on which block costs depend.
  struct Key {
    std::int64_t tensor, context, expert, expert_tensor, micro_batch;
    /// 0 in the default rank order, where these degrees change no layout.
    std::int64_t pipeline, data;
    bool staged;          ///< True if the plan has a pipeline.
    std::int64_t spread;  ///< Number of positions that share the vocabulary; 1: it is not shared.
    /// Barriers of the schedule (`ScheduleTraits::barriers`), where positions share the vocabulary.
    std::int64_t barriers;
    bool sequence_parallel;
    DType accumulate;       ///< Type in which gradients add up.
    plan::Overlap overlap;  ///< Overlaps that change the cost of blocks: `overlap_of_blocks`.
    plan::TensorInput tensor_input;
    plan::ContextKind context_kind;
    collective::Algorithm tensor_algorithm, context_algorithm, expert_algorithm;
    plan::RankOrder order;
    plan::OffloadModules offloaded;
    /// Sets of recomputed modules to price, as in `BlockCosts::listed`.
    std::vector<plan::ModuleSet> listed;
    auto operator<=>(const Key&) const = default;
  };
  static Key key_of(const plan::Plan& plan);

  /// Returns the costs of the plan's blocks with the kinds of recomputation that the plan asks for;
  /// `pricer` prices those that are not known yet. Throws what the builders throw, on later calls
  /// too: costs that were only partly computed are never returned.
  const BlockCosts& get(const plan::Plan& plan, const Layouts& layouts, BlockPricer& pricer);

  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::mutex mutex;  ///< Held while its costs are priced.
    BlockCosts costs;
    std::exception_ptr failure;  ///< An error that interrupted the pricing; null: none.
  };
  Entry& entry(const Key& key);

  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace stepwright::simulate
