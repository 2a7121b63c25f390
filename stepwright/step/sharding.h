#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "stepwright/plan/grid.h"
#include "stepwright/step/data_messages.h"
#include "stepwright/step/message_writer.h"
#include "stepwright/step/program.h"
#include "stepwright/step/setting.h"

namespace stepwright::step {

/// A reduction of gradients in a backward.
struct Reduction {
  bool last = false;  ///< In the last backward of the step.
  bool done = false;  ///< The loss has copied and sent them: nothing of them stays.
};

/// Writes the data-parallel messages of one plan (`step/data_messages.h`) as templates.
class ShardingBuilder {
 public:
  /// `setting`, `plan` and `job` have to outlive it.
  ShardingBuilder(const Setting& setting, const plan::Plan& plan, const plan::Grid& grid,
                  const plan::Job& job);

  /// Parameters are split, so every use needs a gather.
  [[nodiscard]] bool gathers_each_use() const { return fetches() || sends(DataMoment::kEachUse); }
  /// The parameters of a block that a gather for a whole step brings.
  [[nodiscard]] UnitSize gathered_unit(UnitSize unit) const;
  /// The optimizer holds finer shards than the parameters, so each step ends with a gather.
  [[nodiscard]] bool gathers_after_step() const { return sends(DataMoment::kAfterStep); }
  /// Gradients are reduced in every backward.
  [[nodiscard]] bool reduces_each_backward() const {
    return fetches() || sends(DataMoment::kEachBackward);
  }
  /// The last backward of a step has reductions of its own.
  [[nodiscard]] bool reduces_last_backward() const { return sends(DataMoment::kLastBackward); }

  /// Gather before a block's use. `first_use`: includes what the last step postponed. `forward`:
  /// the use is a forward.
  [[nodiscard]] Template gather(const UnitSize& unit, bool first_use, bool forward) const;
  /// Reduction in a backward of a bucket of blocks, which hand over their gradients if those leave.
  [[nodiscard]] Template reduce(const std::vector<UnitSize>& bucket, Reduction how) const;
  /// End of the step: what was not overlapped, tied tables, gradient norm, optimizer, gathers.
  struct Update {
    UnitSize stage;
    std::int64_t tied_table = 0;  ///< Elements of a tied table, as in `StepEnd`; so the next three.
    bool loss = false;
    bool experts = false;
    std::int64_t loads = 0;
  };
  [[nodiscard]] Template update(const Update& what) const;

  [[nodiscard]] States states(const UnitSize& stage) const;

 private:
  using Moments = std::initializer_list<DataMoment>;
  /// Parameters lie on the host: even a rank alone fetches them for each use.
  [[nodiscard]] bool fetches() const { return plan_.offload.parameters; }
  [[nodiscard]] bool sends(DataMoment moment) const {
    return !data_messages(plan_.sharding, moment, s_.kernels.scattered_gradients).empty();
  }
  /// The messages of `moments` in their order, for blocks of a size: of one kind of parameters.
  void add(MessageWriter& out, const StateSpread& spread, const UnitSize& size, Moments moments,
           Stream stream) const;
  /// Adds the messages of the dense parameters, then of the routed ones.
  void add(MessageWriter& out, const UnitSize& size, Moments moments, Stream stream) const;
  /// Adds the tensor that messages reduce, a copy of the gradients that `out` reads; -1 if it reads
  /// none.
  TensorId reduction_input(MessageWriter& out, bool done) const;
  void add_end(MessageWriter& out, const EndMessage& message) const;
  /// A copy of a rank's part of what blocks of a size hand to a moment, where it lies on the host.
  void add_copy(MessageWriter& out, const UnitSize& size, DataMoment moment, Stream stream) const;

  const Setting& s_;
  const plan::Plan& plan_;
  const plan::Job& job_;
  StateSpread dense_;
  StateSpread routed_;
  std::array<std::int64_t, plan::kGroupKinds> group_sizes_{};
};

}  // namespace stepwright::step
