#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "stepwright/schedule/found/list_scheduler.h"

namespace stepwright::schedule {

/// Simulates the orders of an uneven pipeline again and again under small changes. A part begins
/// after the previous part of its position and after the part that it waits for, so a change is
/// followed only as far as it moves other parts, and abandoned if a part would end too late. Gives
/// the same seconds as `TurnSimulator` for turns of one part each.
class OrderSimulator {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// Number of a part that a position may have, whether or not it is in the order. A whole backward
  /// and its data gradient have the same number.
  using Node = std::int32_t;
  static constexpr Node kNone = -1;

  explicit OrderSimulator(const UnevenPipeline& pipeline);

  /// Restarts with these orders, by position; returns their makespan, or `kNever` if parts wait for
  /// each other in a circle.
  double start(std::span<const Order> orders);
  /// Replaces the parts from `first` to `last` of a position by `parts` and returns the makespan,
  /// unless it would exceed `limit_s`: then changes nothing and returns `kNever`.
  double change(Node first, Node last, std::span<const Part> parts, double limit_s);

  [[nodiscard]] std::vector<Order> orders() const;
  [[nodiscard]] double seconds() const { return seconds_; }
  /// Returns a critical path, the last part first: each part begins as soon as the one before it in
  /// time allows. The makespan shrinks only if these parts change.
  [[nodiscard]] std::vector<Node> critical() const;
  /// Number of parts simulated so far.
  [[nodiscard]] std::int64_t played() const { return played_; }

  /// Number of all possible parts, which are numbered from 0.
  [[nodiscard]] std::int64_t nodes() const { return std::ssize(parts_); }
  [[nodiscard]] Node node(std::size_t position, const Part& part) const;
  [[nodiscard]] const Part& part(Node node) const { return parts_[at(node)]; }
  [[nodiscard]] std::size_t position(Node node) const { return positions_[at(node)]; }
  /// True if a part is in the order; only weight gradients may be absent, with a whole backward.
  [[nodiscard]] bool has_turn(Node node) const { return turns_[at(node)]; }
  /// The previous and the next part of a part's position; `kNone` if there is none.
  [[nodiscard]] Node before(Node node) const { return lane_[0][at(node)]; }
  [[nodiscard]] Node after(Node node) const { return lane_[1][at(node)]; }
  [[nodiscard]] Node last(std::size_t position) const { return ends_[1][position]; }
  /// True if one of two parts waits for the other.
  [[nodiscard]] bool waits(Node a, Node b) const {
    return awaited_[0][at(a)] == b || awaited_[1][at(a)] == b;
  }
  [[nodiscard]] double start_s(Node node) const;
  [[nodiscard]] double end_s(Node node) const { return value_s_[0][at(node)]; }

 private:
  static std::size_t at(Node node) { return static_cast<std::size_t>(node); }
  void make_nodes();
  void link(std::size_t position, Node before, Node after, std::span<const Part> parts);
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
  void prepare(Node after, std::span<const Part> parts);
  void undo(Node before, Node after, std::span<const Part> parts);

  const UnevenPipeline& pipeline_;
  // Vectors indexed by node. In arrays of two, the first entry is for the way from the beginning to
  // the end, the second for the way back.
  std::vector<Part> parts_;
  std::vector<std::size_t> positions_;
  std::vector<double> own_s_;
  std::vector<bool> turns_;
  /// Start times of parts, by which the parts of a position are sorted.
  std::vector<double> keys_s_;
  std::array<std::vector<Node>, 2> lane_;  ///< The previous part of the same position.
  /// The part that a part waits for: of another chunk, or its own forward.
  std::array<std::vector<Node>, 2> awaited_;
  std::array<std::vector<double>, 2> hop_s_;  ///< Seconds of the hop from `awaited_`.
  /// The end time of a part; on the way back, the time from its start to the makespan.
  std::array<std::vector<double>, 2> value_s_;
  // Vectors indexed by position.
  std::array<std::vector<Node>, 2> ends_;
  std::vector<Node> front_;  ///< The next part to simulate; `kNone`: none.
  /// For each position, the start time up to which its parts are revisited.
  std::vector<double> until_s_;

  struct Replaced {
    Part part;
    double key_s = 0;
    double rest_s = 0;
  };
  std::vector<Replaced> replaced_;  ///< Parts that this change replaced.
  /// Parts whose end this change moved, each with its former end time.
  std::vector<std::pair<Node, double>> changed_;
  std::size_t position_ = 0;  ///< Position that the current change affects.
  /// Start time of the last replaced part: parts that start later come after the change.
  double since_s_ = 0;
  bool rests_known_ = false;
  double seconds_ = kNever;
  std::int64_t played_ = 0;
};

}  // namespace stepwright::schedule
