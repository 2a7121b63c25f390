#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stepwright/plan/grid.h"
#include "stepwright/step/message_writer.h"
#include "stepwright/step/program.h"
#include "stepwright/step/setting.h"

namespace stepwright {

/// How a plan spreads the model states of one kind of parameters: group sizes and communicators.
/// The rules are those of PaRO (2310.06003), table "collectives of every strategy" in
/// docs/algorithms.md.
struct StateSpread {
  std::int64_t inner = 1;  ///< m.
  std::int64_t world = 1;  ///< n * m.
  GroupKind inner_group{};
  GroupKind outer_group{};
  GroupKind world_group{};
  [[nodiscard]] std::int64_t outer() const { return world / inner; }
  /// Ranks over which a state of this spread is divided.
  [[nodiscard]] std::int64_t divisor(Spread spread) const;
};

/// Writes the data-parallel messages of one plan as templates.
class ShardingBuilder {
 public:
  ShardingBuilder(const Setting& setting, const Plan& plan, const Grid& grid, Optimizer optimizer);

  /// Parameters are split, so every use needs a gather.
  [[nodiscard]] bool gathers_each_use() const;
  /// The optimizer holds finer shards than the parameters, so each step ends with a gather.
  [[nodiscard]] bool gathers_after_step() const;
  /// Gradients are reduced in every backward.
  [[nodiscard]] bool reduces_each_backward() const;
  /// The last backward of a step has reductions of its own.
  [[nodiscard]] bool reduces_last_backward() const;

  /// Gather before a block's use. `first_use`: includes what the last step postponed.
  [[nodiscard]] Template gather(const UnitSize& unit, bool first_use) const;
  /// Reduction in a backward of a bucket of blocks, which hand over their gradients if those leave.
  /// `last`: the last backward of the step.
  [[nodiscard]] Template reduce(const std::vector<UnitSize>& bucket, bool last) const;
  /// End of the step: what was not overlapped, tied tables, gradient norm, optimizer, gathers.
  struct Update {
    UnitSize stage;
    std::int64_t tied_table = 0;  ///< Elements of a table shared with another stage; 0: none.
    bool reduce_last = false;     ///< Reductions of the last backward still to do.
    bool gather = false;          ///< Gathers after the step not postponed.
    bool loss = false;            ///< The last stage shares the loss.
    bool experts = false;         ///< The model has experts.
  };
  [[nodiscard]] Template update(const Update& what) const;

  [[nodiscard]] States states(const UnitSize& stage) const;

 private:
  /// Which reductions of a strategy: those of every backward, those of the last one, and where.
  struct Reductions {
    bool each = false;
    bool last = false;
    Stream stream = Stream::kCompute;
    /// Elements of tables that other blocks hold: in what a backward hands over, and only there.
    std::int64_t borrowed = 0;
  };
  void add_reduction(MessageWriter& out, const StateSpread& spread, std::int64_t elements,
                     const Reductions& which) const;
  void add_after_step(MessageWriter& out, const StateSpread& spread, std::int64_t elements,
                      Stream stream) const;
  void add_each_use(MessageWriter& out, const StateSpread& spread, std::int64_t elements) const;
  void add_small_reductions(MessageWriter& out, const Update& what) const;
  void add_norm(MessageWriter& out, const Update& what) const;
  void add_optimizer(MessageWriter& out, const Update& what) const;
  [[nodiscard]] std::int64_t shard(Spread spread, const UnitSize& size) const;

  const Setting& s_;
  Sharding sharding_;
  Overlap overlap_;
  std::int64_t gradient_bucket_;
  std::int64_t parameter_bucket_;
  Optimizer optimizer_;
  StateSpread dense_;
  StateSpread expert_;
  std::array<std::int64_t, kGroupKinds> group_sizes_{};
};

}  // namespace stepwright
