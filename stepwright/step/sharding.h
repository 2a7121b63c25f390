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

/// Facts about one data-parallel reduction of gradients, from which its template is built.
struct GradientReduction {
  bool last = false;  ///< True if the reduction is in the last backward of the step.
  /// True if the loss has already copied and reduced the gradients of the head, so that this
  /// reduction needs no copy.
  bool done = false;
};

/// Builds templates of the data-parallel messages of one plan (DDP, ZeRO, FSDP): gathers of
/// parameters, reductions of gradients and the update.
class ShardingBuilder {
 public:
  /// Keeps references to `setting`, `plan` and `job`, which must outlive the builder.
  ShardingBuilder(const StepBuildSettings& setting, const plan::Plan& plan,
                  const plan::RankGrid& grid, const plan::Job& job);

  /// True if every use of parameters needs a gather over ranks or a fetch from host memory.
  [[nodiscard]] bool gathers_parameters_each_use() const {
    return fetches_parameters_from_host() || sends(DataParallelMessageMoment::kEachUse);
  }
  /// Returns the parameter counts that one gather of a block collects: trained parameters, and
  /// frozen ones too if parameters stay gathered for a whole step.
  [[nodiscard]] ModelBlockParameterCounts gathered_parameter_sizes(
      ModelBlockParameterCounts unit) const;
  /// True if optimizer states are sharded over more ranks than parameters, so that each step ends
  /// with a gather of updated parameters.
  [[nodiscard]] bool gathers_parameters_after_step() const {
    return sends(DataParallelMessageMoment::kAfterStep);
  }
  /// True if gradients are reduced (or moved to host memory) in every backward.
  [[nodiscard]] bool reduces_gradients_each_backward() const {
    return fetches_parameters_from_host() || sends(DataParallelMessageMoment::kEachBackward);
  }
  /// True if the last backward of a step has reductions of gradients that other backwards do not
  /// have.
  [[nodiscard]] bool last_backward_has_extra_reductions() const {
    return sends(DataParallelMessageMoment::kLastBackward);
  }

  /// Builds the template that gathers a block's parameters before a use. `first_use`: it includes
  /// the gather of updated parameters that the previous step postponed. `forward`: a forward uses
  /// them.
  [[nodiscard]] OperatorTemplate build_parameter_gather_template(
      const ModelBlockParameterCounts& unit, bool first_use, bool forward) const;
  /// Builds the template that reduces the gradients of a bucket of blocks over data-parallel ranks
  /// in a backward. Its inputs are the blocks' gradients, unless the rank keeps all gradients
  /// whole.
  [[nodiscard]] OperatorTemplate build_gradient_reduction_template(
      const std::vector<ModelBlockParameterCounts>& bucket, GradientReduction how) const;
  /// Sizes from which the template of the end of a step is built: gradient reductions that were not
  /// overlapped, tied tables, gradient norm, optimizer, gathers.
  struct StepUpdateSizes {
    ModelBlockParameterCounts stage;
    /// Number of elements of a vocabulary table that another pipeline stage holds too (tied
    /// weights); 0: none. `loss`, `experts` and `loads` are as in `StepEndSumSizes`.
    std::int64_t tied_table = 0;
    bool loss = false;
    bool experts = false;
    std::int64_t loads = 0;
  };
  [[nodiscard]] OperatorTemplate update(const StepUpdateSizes& what) const;

  [[nodiscard]] RankModelStateBytes states(const ModelBlockParameterCounts& stage) const;

 private:
  using Moments = std::initializer_list<DataParallelMessageMoment>;
  /// True if parameters are stored in host memory: even a rank without data parallelism fetches
  /// them for each use.
  [[nodiscard]] bool fetches_parameters_from_host() const { return plan_.offload.parameters; }
  [[nodiscard]] bool sends(DataParallelMessageMoment moment) const {
    return !data_parallel_messages_of_sharding(plan_.sharding, moment,
                                               s_.kernels.scattered_gradients)
                .empty();
  }
  /// Appends the data-parallel messages of the given moments of a step, in this order, for either
  /// dense or routed (expert) parameters, as `spread` says, with the parameter counts `size`.
  void add(MessageTemplateBuilder& out, const ShardingGroups& spread,
           const ModelBlockParameterCounts& size, Moments moments, DeviceStream stream) const;
  /// Appends the data-parallel messages of the given moments of a step for parameters with the
  /// counts `size`: first the messages of dense ones, then those of routed (expert) ones.
  void add(MessageTemplateBuilder& out, const ModelBlockParameterCounts& size, Moments moments,
           DeviceStream stream) const;
  /// Adds to a reduction's template the buffer into which gradients are copied before they are
  /// reduced, and returns it; -1 if the reduction reads no gradients. `done`: the loss has already
  /// made the copy.
  TensorId add_reduction_input_buffer(MessageTemplateBuilder& out, bool done) const;
  void add_end(MessageTemplateBuilder& out, const StepEndMessage& message) const;
  /// Appends the copy between host and device of this rank's shard of parameters or gradients at a
  /// moment of the step, if parameters are stored in host memory.
  void append_state_host_copy(MessageTemplateBuilder& out, const ModelBlockParameterCounts& size,
                              DataParallelMessageMoment moment, DeviceStream stream) const;

  const StepBuildSettings& s_;
  const plan::Plan& plan_;
  const plan::Job& job_;
  ShardingGroups dense_;
  ShardingGroups routed_;
  std::array<std::int64_t, plan::kGroupKinds> group_sizes_{};
};

}  // namespace stepwright::step
