#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "stepwright/schedule/found/list_scheduler.h"

namespace stepwright::schedule {

/// Plays the orders of an uneven pipeline again and again as they are changed a little. A part
/// begins after the one before it on its position and after the one that it waits for, so a change
/// is followed only as far as it moves something, and given up where a part would end too long
/// before the end of all. The same seconds as `TurnPlayer` for turns of one part each.
class OrderPlay {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// A part that a position may have, whether or not it has a turn. Whole backwards and data
  /// gradients are the same one.
  using Node = std::int32_t;
  static constexpr Node kNone = -1;

  explicit OrderPlay(const UnevenPipeline& pipeline);

  /// Begins anew with these orders, by position, whatever they take: the makespan, or `kNever`
  /// where parts wait for each other.
  double start(std::span<const Order> orders);
  /// Has `parts` in place of those from `first` to `last` of a position, unless the makespan would
  /// then be above `limit_s`. The makespan if it does, else `kNever`.
  double change(Node first, Node last, std::span<const Part> parts, double limit_s);

  [[nodiscard]] std::vector<Order> orders() const;
  [[nodiscard]] double seconds() const { return seconds_; }
  /// Parts of which each begins as soon as the one before it in the list lets it, up to the end of
  /// all: nothing gets shorter unless they change. The last part first.
  [[nodiscard]] std::vector<Node> critical() const;
  /// Parts played until now.
  [[nodiscard]] std::int64_t played() const { return played_; }

  /// All parts that there may be are numbered from 0.
  [[nodiscard]] std::int64_t nodes() const { return std::ssize(parts_); }
  [[nodiscard]] Node node(std::size_t position, const Part& part) const;
  [[nodiscard]] const Part& part(Node node) const { return parts_[at(node)]; }
  [[nodiscard]] std::size_t position(Node node) const { return positions_[at(node)]; }
  /// Whether a weight gradient has a turn of its own; all other parts have one.
  [[nodiscard]] bool has_turn(Node node) const { return turns_[at(node)]; }
  /// The neighbours of a part in the order of its position, or `kNone`.
  [[nodiscard]] Node before(Node node) const { return lane_[0][at(node)]; }
  [[nodiscard]] Node after(Node node) const { return lane_[1][at(node)]; }
  [[nodiscard]] Node last(std::size_t position) const { return ends_[1][position]; }
  /// Whether one of two parts waits for the other.
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
  // By node. Of two, the first is of the way from the beginning to the end, the second back.
  std::vector<Part> parts_;
  std::vector<std::size_t> positions_;
  std::vector<double> own_s_;
  std::vector<bool> turns_;
  std::vector<double> keys_s_;             ///< When each part began: sorts the parts of a position.
  std::array<std::vector<Node>, 2> lane_;  ///< The one before on its position.
  /// Node that it waits for: of another chunk, or its own forward.
  std::array<std::vector<Node>, 2> awaited_;
  std::array<std::vector<double>, 2> hop_s_;    ///< Seconds of the hop from `awaited_`.
  std::array<std::vector<double>, 2> value_s_;  ///< When it ends; from its start to the end of all.
  // By position.
  std::array<std::vector<Node>, 2> ends_;
  std::vector<Node> front_;      ///< The next to be played, or `kNone`.
  std::vector<double> until_s_;  ///< By position: the key up to which its parts are looked at.

  struct Replaced {
    Part part;
    double key_s = 0;
    double rest_s = 0;
  };
  std::vector<Replaced> replaced_;  ///< Parts that this change replaced.
  /// Nodes whose end this change moved, each with its former end.
  std::vector<std::pair<Node, double>> changed_;
  std::size_t position_ = 0;  ///< The position that is changed.
  /// Key of the last replaced node: nodes with a larger key come after the change.
  double since_s_ = 0;
  bool rests_known_ = false;
  double seconds_ = kNever;
  std::int64_t played_ = 0;
};

}  // namespace stepwright::schedule
