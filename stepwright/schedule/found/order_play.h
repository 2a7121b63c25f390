#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "stepwright/schedule/found/list_scheduler.h"

namespace stepwright::schedule {

/// Simulates orders of work in an uneven pipeline again and again under small changes. Work begins
/// after the previous work of its pipeline rank and after the work that it waits for, so a change
/// is followed only as far as it moves other work, and abandoned if something would end too late.
/// Gives the seconds of `ScheduleTurnSimulator` for schedules without overlap.
class WorkOrderSimulator {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// Identifier of a work item (one direction of a chunk for one micro-batch), unique among all
  /// that pipeline ranks may have, in the order or not. A whole backward and its data gradient have
  /// the same identifier.
  using Node = std::int32_t;
  static constexpr Node kNone = -1;

  explicit WorkOrderSimulator(const UnevenPipeline& pipeline);

  /// Simulates the given orders of work, one for each pipeline rank, in place of earlier ones.
  /// Returns the seconds of the whole schedule (its makespan), or `kNever` if work items wait for
  /// each other in a circle.
  double simulate_given_orders(std::span<const Order> orders);
  /// Replaces the work items from `first` to `last` of a pipeline rank by `parts`; returns the
  /// total seconds. If these would exceed `limit_s`, changes nothing and returns `kNever`.
  double try_replace_parts(Node first, Node last, std::span<const PipelineWorkPart> parts,
                           double limit_s);

  [[nodiscard]] std::vector<Order> orders() const;
  [[nodiscard]] double seconds() const { return seconds_; }
  /// Returns a critical path, last work item first: each begins as soon as the one before it in
  /// time allows. The total time shrinks only if one of these work items changes.
  [[nodiscard]] std::vector<Node> critical_path() const;
  /// Returns the number of work items simulated so far, by which callers limit the search.
  [[nodiscard]] std::int64_t simulated_work_item_count() const { return played_; }

  /// Returns the number of all possible work items, which are numbered from 0.
  [[nodiscard]] std::int64_t possible_part_count() const { return std::ssize(parts_); }
  [[nodiscard]] Node node(std::size_t position, const PipelineWorkPart& part) const;
  [[nodiscard]] const PipelineWorkPart& part(Node node) const { return parts_[at(node)]; }
  [[nodiscard]] std::size_t position(Node node) const { return positions_[at(node)]; }
  /// True if the order contains this work item. Only weight gradients that whole backwards include
  /// may be absent.
  [[nodiscard]] bool is_part_in_schedule_order(Node node) const { return turns_[at(node)]; }
  /// Returns the previous work item of the same pipeline rank; `kNone` if there is none.
  [[nodiscard]] Node before(Node node) const { return lane_[0][at(node)]; }
  [[nodiscard]] Node after(Node node) const { return lane_[1][at(node)]; }
  [[nodiscard]] Node last(std::size_t position) const { return ends_[1][position]; }
  /// True if one of two work items waits for the other to end.
  [[nodiscard]] bool parts_depend_on_each_other(Node a, Node b) const {
    return awaited_[0][at(a)] == b || awaited_[1][at(a)] == b;
  }
  [[nodiscard]] double start_s(Node node) const;
  [[nodiscard]] double end_s(Node node) const { return value_s_[0][at(node)]; }

 private:
  static std::size_t at(Node node) { return static_cast<std::size_t>(node); }
  void make_nodes();
  void link(std::size_t position, Node before, Node after, std::span<const PipelineWorkPart> parts);
  template <int kWay>
  bool fill();
  template <int kWay>
  double reach_s(Node node) const;
  template <int kWay>
  void mark(Node node);
  template <int kWay>
  bool step(Node node, double limit_s);
  template <int kWay>
  bool sweep(double limit_s);
  [[nodiscard]] double last_s() const;
  void look_at(Node node, double until_s);
  void prepare(Node after, std::span<const PipelineWorkPart> parts);
  void undo(Node before, Node after, std::span<const PipelineWorkPart> parts);

  const UnevenPipeline& pipeline_;
  // Vectors indexed by node. In arrays of two, the first entry is for the way from the beginning to
  // the end, the second for the way back.
  std::vector<PipelineWorkPart> parts_;
  std::vector<std::size_t> positions_;
  std::vector<double> own_s_;
  std::vector<bool> turns_;
  /// For each work item, its start time in seconds, by which the work items of a pipeline rank are
  /// sorted.
  std::vector<double> keys_s_;
  /// For each work item, the previous ([0]) and the next ([1]) work item of its pipeline rank;
  /// `kNone`: there is none.
  std::array<std::vector<Node>, 2> lane_;
  /// For each work item, the work item that it waits for, which is of another chunk or its own
  /// forward ([0]), and the work item that waits for it ([1]).
  std::array<std::vector<Node>, 2> awaited_;
  /// Seconds of the message between a work item and the one that it waits for ([0]) or that waits
  /// for it ([1]); 0: no message is sent.
  std::array<std::vector<double>, 2> hop_s_;
  /// For each work item, its end time in seconds ([0]), and the seconds from its start to the end
  /// of all work ([1]).
  std::array<std::vector<double>, 2> value_s_;
  // Vectors indexed by position.
  std::array<std::vector<Node>, 2> ends_;
  /// For each pipeline rank, its next work item to simulate; `kNone`: none.
  std::vector<Node> front_;
  /// For each pipeline rank, the start time in seconds up to which its work is simulated again.
  std::vector<double> until_s_;

  struct Replaced {
    PipelineWorkPart part;
    double key_s = 0;
    double rest_s = 0;
  };
  /// Work items that the current change has replaced, with their former times.
  std::vector<Replaced> replaced_;
  /// Work items whose end time the current change moved, each with its former end time in seconds.
  std::vector<std::pair<Node, double>> changed_;
  std::size_t position_ = 0;  ///< Pipeline rank whose order the current change affects.
  /// Start time in seconds of the last replaced work item: later starts come after the change.
  double since_s_ = 0;
  bool rests_known_ = false;
  double seconds_ = kNever;
  std::int64_t played_ = 0;
};

}  // namespace stepwright::schedule
