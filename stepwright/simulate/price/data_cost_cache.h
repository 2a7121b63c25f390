#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "stepwright/simulate/price/sharding_message_cost.h"

namespace stepwright::simulate {

/// Cache of the seconds of data-parallel messages and of the bytes of model states of a pipeline
/// rank under one sharding (how parameters, gradients and optimizer states are divided over ranks).
/// Micro-batches, recomputation and schedules do not change them, so a search asks for the same
/// ones often. The cache has a fixed number of places; each holds the last entry that was hashed to
/// it.
class ShardingCostCache {
 public:
  struct Entry {
    ShardingMessageCost cost;
    ShardedStateMemory memory;
  };

  /// Returns the seconds of a pipeline rank's data-parallel messages and the bytes of its model
  /// states, valid until the next call. Until the next `clear`, equal layouts must always be passed
  /// at the same address (`at.layouts`).
  const Entry& get(const PositionPricingInput& at, cost::OperatorTimeCache& computations);
  /// Returns the seconds at the end of a step (small reductions and the optimizer), computed by
  /// `step_end_seconds` and cached because many ways of sharding share them.
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

  /// For each place of the hashed cache: the index of its entry in `known_` plus 1; 0: the place is
  /// empty.
  std::vector<std::uint16_t> places_;
  std::vector<Known> known_;
  std::unordered_map<Key, double, Hash> updates_;
};

}  // namespace stepwright::simulate
