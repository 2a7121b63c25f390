#pragma once

#include <array>
#include <map>
#include <vector>

#include "stepwright/runtime/execute/performer.h"

namespace stepwright::runtime {

/// Runs one step of a pipeline stage on a rank: walks through the stage's schedule and gives each
/// operator to the operator runner (`performer`), on the thread of the operator's stream, after the
/// work that it waits for. Parameter gathers and other templates without computation are issued
/// ahead, as soon as all that they wait for has been issued.
class StageStepExecutor {
 public:
  /// `compute`: kThread: the compute stream has a thread of its own, so that operators are issued
  /// ahead, as on a GPU; kWhereIssued: computations run on the issuing thread, and a tensor is
  /// freed as early as the program says.
  StageStepExecutor(const step::StepProgram& program, const step::PipelineStageProgram& stage,
                    OperatorRunner& performer, RankStreams::Compute compute, RankDevice& device);

  /// Runs the whole pipeline schedule of a step and waits for its end. Fails with `kRuntime` if
  /// operators restore a saved tensor that was not saved before; rethrows exceptions of operators.
  void run_training_step();

 private:
  /// Facts about a template (the operators of one block's forward or backward, built once and
  /// reused) that hold wherever it is used.
  struct OperatorTemplateFacts {
    /// For each operator, the tensors to free after it, because no later operator reads them.
    std::vector<std::vector<step::TensorId>> dies_after;
    /// True if at least one of the template's operators runs on the compute stream, or if the
    /// template has no operators.
    bool computes = false;
  };
  /// State of one run of a template (the operators of one block's forward or backward).
  struct OperatorTemplateRunState {
    std::vector<PlacedTensorPtr> cells;
    /// For each operator of the template, the position of its work in the queue of its stream; 0 on
    /// the compute stream.
    std::vector<StreamTicket> tickets;
    std::vector<PlacedTensorPtr> outputs;
    bool issued = false;
  };
  struct Run {
    const step::TemplateSequence& sequence;
    const step::PipelineScheduleSlot& slot;
    std::vector<OperatorTemplateRunState> frames;
    /// Last work in the compute stream's queue when this entry of the rank's pipeline schedule
    /// began.
    StreamTicket begin;
  };
  /// Identifies tensors that are saved for later work on the same block and micro-batch, as from a
  /// forward to its backward.
  struct SavedTensorsKey {
    std::int32_t unit;
    std::int32_t micro_batch;
    auto operator<=>(const SavedTensorsKey&) const = default;
  };

  void run_slot(const step::PipelineScheduleSlot& slot);
  void issue(Run& run, std::size_t item);
  void issue_ahead(Run& run, std::size_t from);
  void bound_buffers(const step::OperatorTemplate& piece);
  void place_cells(Run& run, const step::TemplateSequenceItem& item,
                   OperatorTemplateRunState& frame);
  void restore(const Run& run, const step::TemplateSequenceItem& item,
               OperatorTemplateRunState& frame);
  void issue_operator(const Run& run, const step::TemplateSequenceItem& item,
                      OperatorTemplateRunState& frame, std::size_t index,
                      const std::vector<StreamTicket>& before);
  Moment wait_for(const std::vector<StreamTicket>& before, step::DeviceStream own);
  void keep_outputs(const Run& run, const step::TemplateSequenceItem& item,
                    OperatorTemplateRunState& frame);
  [[nodiscard]] const step::OperatorTemplate& piece_of(
      const step::TemplateSequenceItem& item) const;

  const step::StepProgram& program_;
  const step::PipelineStageProgram& stage_;
  OperatorRunner& performer_;
  std::vector<OperatorTemplateFacts> lives_;
  std::map<SavedTensorsKey, std::vector<PlacedTensorPtr>> saved_;
  /// For each stream, the position of its last work in the queue.
  std::array<StreamTicket, step::kStreams> last_{};
  RankStreams lanes_;
};

}  // namespace stepwright::runtime
