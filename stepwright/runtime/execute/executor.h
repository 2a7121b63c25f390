#pragma once

#include <array>
#include <map>
#include <vector>

#include "stepwright/runtime/execute/performer.h"

namespace stepwright::runtime {

/// Walks the schedule of a rank's stage (slots, items of their sequences, operators of their
/// templates), and passes each operator to the performer on the thread of its stream, after the
/// work that it waits for. Items without computation are issued as soon as their predecessors have
/// been issued, so that gathers run ahead.
class Executor {
 public:
  /// `compute`: kThread: the compute stream has its own thread, so that the walk runs ahead, as on
  /// a device; kWhereIssued: it runs on the walking thread, and a tensor is freed as early as the
  /// program says.
  Executor(const step::StepProgram& program, const step::Stage& stage, Performer& performer,
           Lanes::Compute compute, RankDevice& device);

  /// Runs the whole schedule and waits for its end. Fails with `kRuntime` when a template restores
  /// a tensor that no earlier template has saved; rethrows exceptions of the performer's work.
  void run_step();

 private:
  /// The facts of a template that hold for all its placements.
  struct Lives {
    /// For each operator, the tensors that no operator needs after it.
    std::vector<std::vector<step::TensorId>> dies_after;
    bool computes = false;  ///< True if an operator is on the compute stream, or on none.
  };
  /// The state of a template while it runs.
  struct Frame {
    std::vector<CellPtr> cells;
    /// Tickets of the template's operators on streams other than the compute stream.
    std::vector<StreamTicket> tickets;
    std::vector<CellPtr> outputs;
    bool issued = false;
  };
  struct Run {
    const step::Sequence& sequence;
    const step::Slot& slot;
    std::vector<Frame> frames;
    StreamTicket begin;  ///< The moment at which the compute stream has reached the slot.
  };
  /// Key of the tensors that a template saves for later templates of the same block and
  /// micro-batch.
  struct SavedKey {
    std::int32_t unit;
    std::int32_t micro_batch;
    auto operator<=>(const SavedKey&) const = default;
  };

  void run_slot(const step::Slot& slot);
  void issue(Run& run, std::size_t item);
  void issue_ahead(Run& run, std::size_t from);
  void bound_buffers(const step::Template& piece);
  void place_cells(Run& run, const step::Item& item, Frame& frame);
  void restore(const Run& run, const step::Item& item, Frame& frame);
  void issue_operator(const Run& run, const step::Item& item, Frame& frame, std::size_t index,
                      const std::vector<StreamTicket>& before);
  Moment wait_for(const std::vector<StreamTicket>& before, step::Stream own);
  void keep_outputs(const Run& run, const step::Item& item, Frame& frame);
  [[nodiscard]] const step::Template& piece_of(const step::Item& item) const;

  const step::StepProgram& program_;
  const step::Stage& stage_;
  Performer& performer_;
  std::vector<Lives> lives_;
  std::map<SavedKey, std::vector<CellPtr>> saved_;
  std::array<StreamTicket, step::kStreams> last_{};  ///< Last ticket of each stream's work.
  Lanes lanes_;
};

}  // namespace stepwright::runtime
