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

/// Facts about a reduction of gradients in a backward.
struct Reduction {
  bool last = false;  ///< True in the last backward of the step.
  /// True if the loss has already copied and reduced the gradients, so that no copy remains.
  bool done = false;
};

/// Writes the data-parallel messages of one plan (`step/data_messages.h`) as templates.
class ShardingBuilder {
 public:
  /// Keeps references to `setting`, `plan` and `job`, which must outlive it.
  ShardingBuilder(const Setting& setting, const plan::Plan& plan, const plan::Grid& grid,
                  const plan::Job& job);

  /// True if every use of parameters needs a gather or a fetch from the host.
  [[nodiscard]] bool gathers_each_use() const { return fetches() || sends(DataMoment::kEachUse); }
  /// The parameters of a block that one gather collects; includes frozen ones if parameters are
  /// gathered for a whole step.
  [[nodiscard]] UnitSize gathered_unit(UnitSize unit) const;
  /// True if the optimizer's shards are finer than the parameters', so that each step ends with a
  /// gather.
  [[nodiscard]] bool gathers_after_step() const { return sends(DataMoment::kAfterStep); }
  /// True if gradients are reduced in every backward.
  [[nodiscard]] bool reduces_each_backward() const {
    return fetches() || sends(DataMoment::kEachBackward);
  }
  /// True if the last backward of a step has additional reductions.
  [[nodiscard]] bool reduces_last_backward() const { return sends(DataMoment::kLastBackward); }

  /// Builds the gather before a block's use. `first_use`: it includes the gather that the previous
  /// step postponed. `forward`: the use is a forward.
  [[nodiscard]] Template gather(const UnitSize& unit, bool first_use, bool forward) const;
  /// Builds the reduction of a bucket of blocks in a backward. Its inputs are the blocks'
  /// gradients, if the rank does not keep them whole.
  [[nodiscard]] Template reduce(const std::vector<UnitSize>& bucket, Reduction how) const;
  /// Sizes for the end of a step: reductions that were not overlapped, tied tables, gradient norm,
  /// optimizer, gathers.
  struct Update {
    UnitSize stage;
    /// Elements of a tied table; this and the next three members are as in `StepEnd`.
    std::int64_t tied_table = 0;
    bool loss = false;
    bool experts = false;
    std::int64_t loads = 0;
  };
  [[nodiscard]] Template update(const Update& what) const;

  [[nodiscard]] States states(const UnitSize& stage) const;

 private:
  using Moments = std::initializer_list<DataMoment>;
  /// True if parameters are stored in host memory: even a rank without data parallelism fetches
  /// them for each use.
  [[nodiscard]] bool fetches() const { return plan_.offload.parameters; }
  [[nodiscard]] bool sends(DataMoment moment) const {
    return !data_messages(plan_.sharding, moment, s_.kernels.scattered_gradients).empty();
  }
  /// Adds the messages of `moments`, in their order, for blocks of a size and one kind of
  /// parameters.
  void add(MessageWriter& out, const StateSpread& spread, const UnitSize& size, Moments moments,
           Stream stream) const;
  /// Adds the messages of the dense parameters, then of the routed ones.
  void add(MessageWriter& out, const UnitSize& size, Moments moments, Stream stream) const;
  /// Adds the tensor that messages reduce (a copy of the gradients that `out` reads) and returns
  /// it; -1 if `out` reads none.
  TensorId reduction_input(MessageWriter& out, bool done) const;
  void add_end(MessageWriter& out, const StepEndMessage& message) const;
  /// Adds the copy between host and device of this rank's share of a moment's states, if they are
  /// stored in host memory.
  void add_copy(MessageWriter& out, const UnitSize& size, DataMoment moment, Stream stream) const;

  const Setting& s_;
  const plan::Plan& plan_;
  const plan::Job& job_;
  StateSpread dense_;
  StateSpread routed_;
  std::array<std::int64_t, plan::kGroupKinds> group_sizes_{};
};

}  // namespace stepwright::step
