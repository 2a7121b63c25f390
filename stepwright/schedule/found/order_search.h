#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "stepwright/schedule/found/order_play.h"

namespace stepwright::schedule {

/// Shortens the orders of work of a pipeline by small legal changes: work stays after the work of
/// its pipeline rank that it needs, and kept memory stays within the rank's limit.
class WorkOrderSearch {
 public:
  explicit WorkOrderSearch(const UnevenPipeline& pipeline)
      : pipeline_(pipeline),
        play_(pipeline),
        kept_(static_cast<std::size_t>(play_.possible_part_count())) {}

  /// Restarts the search from the given orders of work, one for each pipeline rank, and returns the
  /// seconds of the whole schedule (its makespan).
  double improve_order_from_best_orders(std::span<const Order> orders);
  /// Joins split backwards one by one (data and weight gradients become one work item), if this
  /// does not lengthen the total time.
  void join_split_backwards();
  /// Tries random changes of single work items, from a fixed seed, until `most_played` of them are
  /// simulated or the orders take at most `least_s` seconds: moves one, or splits or joins a
  /// backward.
  void improve_order_by_random_changes(std::int64_t most_played, double least_s);

  [[nodiscard]] double seconds() const { return play_.seconds(); }
  [[nodiscard]] std::vector<Order> orders() const { return play_.orders(); }
  /// Returns the work items simulated so far; choosing a change counts as some of them.
  [[nodiscard]] std::int64_t simulated_work_item_count() const {
    return play_.simulated_work_item_count() + tried_;
  }

 private:
  using Node = WorkOrderSimulator::Node;

  [[nodiscard]] std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(random_()) % count;
  }
  [[nodiscard]] Node pick();
  bool move(Node node);
  bool cut(Node node);
  bool join_split_backwards(Node node);
  [[nodiscard]] bool costs_to_cut(Node node) const;
  bool take(Node first, Node last, std::span<const PipelineWorkPart> parts);

  const UnevenPipeline& pipeline_;
  WorkOrderSimulator play_;
  /// Memory that a pipeline rank keeps after each of its work items (one forward or backward of one
  /// micro-batch), in the unit of `ModelChunkKeptMemory`.
  std::vector<double> kept_;
  std::vector<PipelineWorkPart> parts_;  ///< Work items of the change that is being tried.
  std::vector<Node> chain_;
  double chain_s_ = WorkOrderSimulator::kNever;
  /// Number of work items that were picked for a change from the current critical path.
  int picked_ = 0;
  std::int64_t tried_ = 0;
  std::mt19937 random_{2};
};

}  // namespace stepwright::schedule
