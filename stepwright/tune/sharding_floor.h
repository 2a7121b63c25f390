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

/// Bytes of states (parameters, gradients, optimizer states) for each parameter that a rank holds
/// before sharding, by kind of parameter.
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

/// Ways to shard one kind of parameters (dense or routed); the group of the other kind is set to 1.
using ShardingKinds = std::vector<DataChoice>;

/// A grid's ways to shard, prepared for bounds. Dense and routed parameters have groups of their
/// own, and the time that one kind adds does not depend on the other, so two short lists stand for
/// their product.
struct ShardingTable {
  struct Choice {
    std::uint32_t dense = 0;  ///< Index of the dense way to shard in the table's `*dense`.
    std::uint32_t expert = 0;
    /// Number of the choice's optimizer update, from 0; choices with equal updates have the same
    /// number.
    std::uint32_t update = 0;
    bool gathers = false;
  };
  std::vector<Choice> choices;  ///< Choices, in the order of `DataTable::choices`.
  std::size_t updates = 0;      ///< Number of different optimizer updates.
  const ShardingKinds* dense = nullptr;
  const ShardingKinds* expert = nullptr;
  /// Indexed as `*dense`; the bytes of routed parameters are 0.
  std::vector<StateBytes> dense_states;
  std::vector<StateBytes> expert_states;

  [[nodiscard]] StateBytes states(const Choice& choice) const {
    const StateBytes& a = dense_states[choice.dense];
    const StateBytes& b = expert_states[choice.expert];
    return {a.dense, b.expert, a.frozen_dense, b.frozen_expert};
  }
};

/// Computes bounds over ways to shard before any of them is priced, and remembers them. Not shared
/// between threads.
class ShardingFloor {
 public:
  ShardingFloor(const plan::Job& job, const cost::CostModel& cost) : job_(job), cost_(cost) {}

  /// The seconds that the ways to shard of a table add to a position, for each kind of parameters.
  struct Times {
    const std::vector<simulate::DataCost>* dense;
    const std::vector<simulate::DataCost>* expert;

    /// Seconds of the messages of one moment of a step; `floor_s` is their lower bound.
    [[nodiscard]] double seconds(const ShardingTable::Choice& choice,
                                 simulate::MessageCost simulate::DataCost::* moment) const {
      return ((*dense)[choice.dense].*moment).seconds + ((*expert)[choice.expert].*moment).seconds;
    }
    [[nodiscard]] double floor_s(const ShardingTable::Choice& choice,
                                 simulate::MessageCost simulate::DataCost::* moment) const {
      return ((*dense)[choice.dense].*moment).floor_s + ((*expert)[choice.expert].*moment).floor_s;
    }
    /// Number of pieces in which the gradients are sent.
    [[nodiscard]] double pieces(const ShardingTable::Choice& choice) const {
      return std::max((*dense)[choice.dense].pieces, (*expert)[choice.expert].pieces);
    }
    /// Returns the cost of all messages of a choice, without the optimizer update.
    [[nodiscard]] simulate::DataCost of(const ShardingTable::Choice& choice) const {
      simulate::DataCost sum = (*dense)[choice.dense];
      return sum += (*expert)[choice.expert];
    }
  };

  const ShardingTable& table(const GridChoice& grid);
  /// Returns the seconds for a position (`stage`) by its size and its number of blocks: messages
  /// that overlap are sent in more pieces.
  Times times(const GridChoice& grid, const plan::Overlap& overlap,
              const simulate::StageCost& stage);
  /// Frees remembered costs once they are many. References in all `Times` become invalid.
  void trim();

 private:
  /// Key of the costs of one kind of parameters: the grid's axes in order, a position, the ways to
  /// shard. Dense and routed gradients of a block share buckets, so the key has the sizes of both.
  struct Side {
    plan::RankOrder order;
    std::array<std::int64_t, 4> sizes;
    /// Elements of the position and of its blocks; `units`: how many blocks there are, how many
    /// have routed parameters, and how many train.
    step::UnitSize size;
    simulate::BlockSizes blocks;
    simulate::FrozenBlocks resting;
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
      older_times_;  ///< Costs that were asked for before the last `trim`.
};

}  // namespace stepwright::tune
