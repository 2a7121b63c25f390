#pragma once

#include <array>
#include <functional>
#include <map>
#include <vector>

#include "stepwright/runtime/call.h"

namespace stepwright {

/// Walks the schedule of a rank's stage: slots, their sequences' items, their templates' operators.
/// Operators of the compute stream run one after the other on the caller's thread, others on the
/// thread of their stream; each waits for the tensors that it reads. Items without computation are
/// issued as soon as what they come after has been issued, so that gathers run ahead.
class Executor {
 public:
  Executor(const StepProgram& program, const Stage& stage, RankState& rank);

  /// Runs one step. `batch`: the tokens of a micro-batch.
  void run_step(const std::function<MicroBatch(std::int64_t)>& batch);

  /// Of the last step.
  [[nodiscard]] HeldBytes held_at_peak() const { return held_.at_peak(); }

 private:
  /// What a template's tensors need to know once for all placements.
  struct Lives {
    std::vector<std::vector<TensorId>> dies_after;  ///< Per operator.
    bool computes = false;                          ///< Something stands on the compute stream.
  };
  /// A template while it runs.
  struct Frame {
    std::vector<CellPtr> cells;
    std::vector<Ticket> tickets;  ///< Of operators on other streams.
    std::vector<CellPtr> outputs;
    bool issued = false;
  };
  struct Run {
    const Sequence& sequence;
    std::int32_t micro_batch;
    std::vector<Frame> frames;
  };
  using SavedKey = std::pair<std::int32_t, std::int32_t>;  ///< Unit, micro-batch.

  void run_slot(const Slot& slot, const std::function<MicroBatch(std::int64_t)>& batch);
  void issue(Run& run, std::size_t item);
  void issue_ahead(Run& run, std::size_t from);
  void bound_buffers(const Template& piece);
  void place_cells(Run& run, const Item& item, Frame& frame);
  void issue_operator(const Run& run, const Item& item, Frame& frame, std::size_t index,
                      const std::vector<Ticket>& before);
  void run_operator(Call& call, const std::vector<Ticket>& before);
  void keep_outputs(const Run& run, const Item& item, Frame& frame);
  [[nodiscard]] const Template& piece_of(const Item& item) const;

  const StepProgram& program_;
  const Stage& stage_;
  RankState& rank_;
  HeldTensors held_;
  std::vector<Lives> lives_;
  std::map<SavedKey, std::vector<CellPtr>> saved_;
  std::map<std::int32_t, MicroBatch> batches_;
  std::array<Ticket, kStreams> last_{};  ///< Of each stream's work.
  Lanes lanes_;
};

}  // namespace stepwright
