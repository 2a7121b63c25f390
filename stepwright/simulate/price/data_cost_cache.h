#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "stepwright/simulate/price/sharding_message_cost.h"

namespace stepwright::simulate {

/// Cache of the costs of sharding messages and states. A search prices one sharding of one position
/// with many micro-batches, recomputations and schedules, on which these costs do not depend. The
/// cache has a fixed number of slots; each holds the last entry that was hashed to it.
class ShardingCostCache {
 public:
  struct Entry {
    ShardingMessageCost cost;
    ShardedStateMemory memory;
  };

  /// Returns the costs of a position's sharding messages and states, valid until the next call.
  /// Until the next `clear`, equal layouts must always be passed at the same address
  /// (`at.layouts`).
  const Entry& get(const PositionPricingInput& at, cost::OperatorTimeCache& computations);
  /// Returns `step_end_seconds` (end-of-step reductions and optimizer), cached because many
  /// shardings share it.
  double cached_step_end_seconds(const PositionPricingInput& at,
                                 cost::OperatorTimeCache& computations);
  void clear();

 private:
  struct Key {
    const Layouts* layouts = nullptr;
    std::uint64_t choices = 0;
    std::int64_t gradient_bucket = 0, parameter_bucket = 0;
    plan::HostOffload offload;
    step::ModelBlockParameterCounts size;
    ModelBlockParameterExtremes blocks;
    FrozenModelBlocks resting;
    std::int64_t units = 0, routed_units = 0, trained_units = 0, corrected = 0, tied_table = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Known {
    Key key;
    Entry entry;
  };
  static Key key_of(const plan::Plan& plan, const Layouts& layouts,
                    const PipelinePositionCost& stage);

  /// For each slot of the cache, the index of its entry in `known_` plus 1; 0: the slot is empty.
  std::vector<std::uint16_t> places_;
  std::vector<Known> known_;
  std::unordered_map<Key, double, Hash> updates_;
};

}  // namespace stepwright::simulate
