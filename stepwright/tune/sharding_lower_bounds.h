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
#include "stepwright/simulate/price/sharding_message_cost.h"
#include "stepwright/tune/enumeration.h"

namespace stepwright::tune {

/// Bytes of states (parameters, gradients, optimizer states) on a rank for each parameter that the
/// rank would hold without sharding, by kind of parameter.
struct StateBytesPerParameter {
  double dense = 0;
  double expert = 0;
  double frozen_dense = 0;
  double frozen_expert = 0;

  [[nodiscard]] double of(const step::ModelBlockParameterCounts& size) const {
    return dense * static_cast<double>(size.dense) + expert * static_cast<double>(size.expert) +
           frozen_dense * static_cast<double>(size.frozen_dense) +
           frozen_expert * static_cast<double>(size.frozen_expert);
  }
};

/// Different ways to shard dense parameters alone or routed (expert) parameters alone. The sharding
/// group of the other kind is set to 1.
using ShardingKinds = std::vector<DataParallelChoice>;

/// All ways to shard the states for one combination of degrees, prepared for lower bounds. Dense
/// and routed parameters have separate groups and their times add up, so two short lists stand for
/// the product.
struct ShardingChoiceTable {
  struct Choice {
    /// Way to shard dense parameters: an index into the table's list `*dense`.
    std::uint32_t dense = 0;
    std::uint32_t expert = 0;
    /// Index, from 0, of the optimizer update that this choice makes; choices with equal updates
    /// share an index, so that each update is priced once.
    std::uint32_t update = 0;
    bool needs_parameter_gathers = false;
  };
  /// Ways to shard dense and routed parameters together, in the order of
  /// `DataParallelChoiceTable::choices`.
  std::vector<Choice> choices;
  /// Number of different optimizer updates among all choices.
  std::size_t updates = 0;
  const ShardingKinds* dense = nullptr;
  const ShardingKinds* expert = nullptr;
  /// State bytes per parameter for each way to shard dense parameters in `*dense`; those of routed
  /// parameters are 0.
  std::vector<StateBytesPerParameter> dense_states;
  std::vector<StateBytesPerParameter> expert_states;

  [[nodiscard]] StateBytesPerParameter states(const Choice& choice) const {
    const StateBytesPerParameter& a = dense_states[choice.dense];
    const StateBytesPerParameter& b = expert_states[choice.expert];
    return {a.dense, b.expert, a.frozen_dense, b.frozen_expert};
  }
};

/// Computes lower bounds of the time of sharding messages before any plan is priced, and caches
/// them. Not shared between threads.
class ShardingLowerBounds {
 public:
  ShardingLowerBounds(const plan::Job& job, const cost::CostModel& cost) : job_(job), cost_(cost) {}

  /// Costs of the messages of sharded states on one pipeline rank: one list for the ways to shard
  /// dense parameters, one for routed parameters.
  struct ShardingMessageTimes {
    const std::vector<simulate::ShardingMessageCost>* dense;
    const std::vector<simulate::ShardingMessageCost>* expert;

    /// Returns the seconds of the sharding messages at one moment of a step (such as the gather
    /// before the forward). `floor_s` returns a lower bound of these seconds.
    [[nodiscard]] double sharding_message_seconds_at(
        const ShardingChoiceTable::Choice& choice,
        simulate::MessageSecondsWithBound simulate::ShardingMessageCost::* moment) const {
      return ((*dense)[choice.dense].*moment).seconds + ((*expert)[choice.expert].*moment).seconds;
    }
    [[nodiscard]] double floor_s(
        const ShardingChoiceTable::Choice& choice,
        simulate::MessageSecondsWithBound simulate::ShardingMessageCost::* moment) const {
      return ((*dense)[choice.dense].*moment).floor_s + ((*expert)[choice.expert].*moment).floor_s;
    }
    /// Returns the number of pieces (buckets) in which gradients are sent.
    [[nodiscard]] double gradient_bucket_count_of_choice(
        const ShardingChoiceTable::Choice& choice) const {
      return std::max((*dense)[choice.dense].pieces, (*expert)[choice.expert].pieces);
    }
    /// Returns the cost of all sharding messages of a choice, dense and routed parameters together,
    /// without the optimizer update.
    [[nodiscard]] simulate::ShardingMessageCost sharding_message_cost_of(
        const ShardingChoiceTable::Choice& choice) const {
      simulate::ShardingMessageCost sum = (*dense)[choice.dense];
      return sum += (*expert)[choice.expert];
    }
  };

  const ShardingChoiceTable& table(const RankGridChoice& grid);
  /// Returns the costs of the messages of sharded states on one pipeline rank (`stage`) for every
  /// way to shard, from the rank's parameters and number of blocks. Messages that overlap are sent
  /// in more pieces.
  ShardingMessageTimes sharding_costs_of_position(const RankGridChoice& grid,
                                                  const plan::OverlapFlags& overlap,
                                                  const simulate::PipelinePositionCost& stage);
  /// Frees cached costs that were not used recently, once there are many. Pointers in all
  /// `ShardingMessageTimes` become invalid.
  void free_old_cached_costs();

 private:
  /// Cache key of the message costs of dense or of routed parameters: degrees and rank order, a
  /// pipeline rank, and the ways to shard. Holds the sizes of both kinds of parameters, since their
  /// gradients share buckets.
  struct ShardingCostKey {
    plan::RankOrder order;
    std::array<std::int64_t, 4> sizes;
    /// Numbers of parameters of the pipeline rank and of its blocks. `units`: number of blocks, of
    /// blocks with routed parameters, and of trained blocks.
    step::ModelBlockParameterCounts size;
    simulate::ModelBlockParameterExtremes blocks;
    simulate::FrozenModelBlocks resting;
    std::array<std::int64_t, 3> units;
    bool gradients_overlap;
    bool parameters_overlap;
    const ShardingKinds* kinds;
    bool routed;
    auto operator<=>(const ShardingCostKey&) const = default;
  };
  const ShardingKinds* interned(const ShardingKinds& kinds) { return &*kinds_.insert(kinds).first; }
  const std::vector<simulate::ShardingMessageCost>& sharding_costs_of_position(
      const ShardingCostKey& side, const plan::Plan& grid,
      const simulate::PipelinePositionCost& stage);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  std::set<ShardingKinds> kinds_;
  std::map<const DataParallelChoiceTable*, ShardingChoiceTable> tables_;
  std::map<ShardingCostKey, std::vector<simulate::ShardingMessageCost>> times_;
  /// Number of costs that `times_` caches at present.
  std::size_t held_ = 0;
  std::map<ShardingCostKey, std::vector<simulate::ShardingMessageCost>>
      /// Cached costs from before the last `free_old_cached_costs`; freed by the next one if not
      /// used.
      older_times_;
};

}  // namespace stepwright::tune
