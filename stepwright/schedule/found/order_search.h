#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "stepwright/schedule/found/order_play.h"

namespace stepwright::schedule {

/// Makes orders shorter by small changes that keep them legal: every part follows what it needs of
/// its own position, which has room for what is kept.
class OrderSearch {
 public:
  explicit OrderSearch(const UnevenPipeline& pipeline)
      : pipeline_(pipeline), play_(pipeline), kept_(static_cast<std::size_t>(play_.nodes())) {}

  /// Begins anew with these: the makespan.
  double start(std::span<const Order> orders);
  /// Makes backwards whole again where that makes nothing longer, each by itself.
  void join();
  /// Changes single parts by chance, from a fixed seed, until so many are played or the orders take
  /// `least_s`: moves one, cuts a backward, makes one whole.
  void walk(std::int64_t most_played, double least_s);

  [[nodiscard]] double seconds() const { return play_.seconds(); }
  [[nodiscard]] std::vector<Order> orders() const { return play_.orders(); }
  /// Parts played until now, with what it takes to choose them.
  [[nodiscard]] std::int64_t played() const { return play_.played() + tried_; }

 private:
  using Node = OrderPlay::Node;

  [[nodiscard]] std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(random_()) % count;
  }
  [[nodiscard]] Node pick();
  bool move(Node node);
  bool cut(Node node);
  bool join(Node node);
  [[nodiscard]] bool costs_to_cut(Node node) const;
  bool take(Node first, Node last, std::span<const Part> parts);

  const UnevenPipeline& pipeline_;
  OrderPlay play_;
  std::vector<double> kept_;  ///< Bytes that its position keeps after each part.
  std::vector<Part> parts_;   ///< Parts of the change being tried.
  std::vector<Node> chain_;
  double chain_s_ = OrderPlay::kNever;
  int picked_ = 0;  ///< Picks from the chain so far.
  std::int64_t tried_ = 0;
  std::mt19937 random_{2};
};

}  // namespace stepwright::schedule
