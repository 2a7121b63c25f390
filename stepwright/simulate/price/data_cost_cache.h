#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "stepwright/simulate/price/data_cost.h"

namespace stepwright::simulate {

/// Remembers data costs: a search prices the same sharding of the same position with many
/// micro-batches, recomputations and schedules, on which the costs do not depend. The cache has a
/// fixed number of places, each with the last entry that was mapped to it; memory grows only with
/// the places used.
class DataCostCache {
 public:
  struct Entry {
    DataCost cost;
    DataMemory memory;
  };

  /// Returns the costs of a position. Until the next `clear`, equal layouts must always be passed
  /// at the same address (`at.layouts`). The reference is valid until the next call.
  const Entry& get(const PricedPosition& at, cost::PriceTable& computations);
  /// Returns `update_seconds`, remembered since many shardings share it.
  double update_s(const PricedPosition& at, cost::PriceTable& computations);
  void clear();

 private:
  struct Key {
    const Layouts* layouts = nullptr;
    std::uint64_t choices = 0;
    std::int64_t gradient_bucket = 0, parameter_bucket = 0;
    plan::Offload offload;
    step::UnitSize size;
    BlockSizes blocks;
    FrozenBlocks resting;
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
  static Key key_of(const plan::Plan& plan, const Layouts& layouts, const StageCost& stage);

  std::vector<std::uint16_t> places_;  ///< Index in `known_` plus 1; 0: the place is free.
  std::vector<Known> known_;
  std::unordered_map<Key, double, Hash> updates_;
};

}  // namespace stepwright::simulate
