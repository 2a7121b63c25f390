#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/simulate/price/data_cost.h"
#include "stepwright/tune/enumeration.h"

namespace stepwright::tune {

/// Bytes of states for each parameter that a rank holds before sharding.
struct StateBytes {
  double dense = 0;
  double expert = 0;
  double frozen_dense = 0;
  double frozen_expert = 0;

  [[nodiscard]] double of(const step::UnitSize& size) const {
    return dense * static_cast<double>(size.dense) + expert * static_cast<double>(size.expert) +
           frozen_dense * static_cast<double>(size.frozen_dense) +
           frozen_expert * static_cast<double>(size.frozen_expert);
  }
};

/// One way to shard as one kind of parameters sees it: the other kind's group is 1.
using ShardingKinds = std::vector<DataChoice>;

/// A grid's ways to shard, prepared for bounds: dense and routed parameters have groups of their
/// own, and what each adds does not depend on the other's, so two short lists stand for their
/// product.
struct ShardingTable {
  struct Choice {
    std::uint32_t dense = 0;  ///< Index into the kinds.
    std::uint32_t expert = 0;
    std::uint32_t update = 0;  ///< Alike where the update is.
    bool gathers = false;
  };
  std::vector<Choice> choices;  ///< In the order of `DataTable::choices`.
  std::size_t updates = 0;      ///< How many differ in their update.
  const ShardingKinds* dense = nullptr;
  const ShardingKinds* expert = nullptr;
  std::vector<StateBytes> dense_states;  ///< By kind; of routed parameters 0.
  std::vector<StateBytes> expert_states;

  [[nodiscard]] StateBytes states(const Choice& choice) const {
    const StateBytes& a = dense_states[choice.dense];
    const StateBytes& b = expert_states[choice.expert];
    return {a.dense, b.expert, a.frozen_dense, b.frozen_expert};
  }
};

/// Bounds over ways to shard before any of them is priced. Remembers what it made; not shared
/// between threads.
class ShardingFloor {
 public:
  ShardingFloor(const plan::Job& job, const cost::CostModel& cost) : job_(job), cost_(cost) {}

  /// The seconds that the kinds of a table add to a position.
  struct Times {
    const std::vector<simulate::DataCost>* dense;
    const std::vector<simulate::DataCost>* expert;

    /// Messages of one moment, and their floor.
    [[nodiscard]] double seconds(const ShardingTable::Choice& choice,
                                 simulate::MessageCost simulate::DataCost::* moment) const {
      return ((*dense)[choice.dense].*moment).seconds + ((*expert)[choice.expert].*moment).seconds;
    }
    [[nodiscard]] double floor_s(const ShardingTable::Choice& choice,
                                 simulate::MessageCost simulate::DataCost::* moment) const {
      return ((*dense)[choice.dense].*moment).floor_s + ((*expert)[choice.expert].*moment).floor_s;
    }
    /// That the gradients are sent in.
    [[nodiscard]] double pieces(const ShardingTable::Choice& choice) const {
      return std::max((*dense)[choice.dense].pieces, (*expert)[choice.expert].pieces);
    }
    /// All messages, without the update.
    [[nodiscard]] simulate::DataCost of(const ShardingTable::Choice& choice) const {
      simulate::DataCost sum = (*dense)[choice.dense];
      return sum += (*expert)[choice.expert];
    }
  };

  const ShardingTable& table(const GridChoice& grid);
  /// The seconds for a position of this size with that many blocks; what overlaps is sent in more
  /// pieces.
  Times times(const GridChoice& grid, const plan::Overlap& overlap,
              const simulate::StageCost& stage);
  /// Forgets what can be made again, once it is large. Ends all `Times`.
  void trim();

 private:
  /// One side of a grid: its axes in order, a position, kinds. Dense and routed gradients of a
  /// block share buckets, so that a side depends on both.
  struct Side {
    plan::RankOrder order;
    std::array<std::int64_t, 4> sizes;
    /// Elements of the position and of its blocks; how many there are, those with routed ones,
    /// those that train.
    step::UnitSize size;
    simulate::BlockSizes blocks;
    simulate::RestingBlocks resting;
    std::array<std::int64_t, 3> units;
    bool gradients_overlap;
    bool parameters_overlap;
    const ShardingKinds* kinds;
    bool routed;
    auto operator<=>(const Side&) const = default;
  };
  const ShardingKinds* interned(const ShardingKinds& kinds) { return &*kinds_.insert(kinds).first; }
  const std::vector<simulate::DataCost>& times(const Side& side, const plan::Plan& grid,
                                               const simulate::StageCost& stage);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  std::set<ShardingKinds> kinds_;
  std::map<const DataTable*, ShardingTable> tables_;
  std::map<Side, std::vector<simulate::DataCost>> times_;
  std::size_t held_ = 0;  ///< Number of costs in `times_`.
  std::map<Side, std::vector<simulate::DataCost>>
      older_times_;  ///< Asked for before the last `trim`.
};

}  // namespace stepwright::tune
