#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "stepwright/schedule/found/order_play.h"

namespace stepwright {

/// Makes orders shorter by small changes that keep them legal: every part follows what it needs of
/// its own position, which has room for what is kept.
class OrderSearch {
 public:
  explicit OrderSearch(const UnevenPipeline& pipeline) : pipeline_(pipeline), play_(pipeline) {}

  /// Begins anew with these.
  double start(std::vector<Order> orders) { return play_.start(std::move(orders)); }
  /// Makes backwards whole again where that makes nothing longer, each by itself.
  void join();
  /// Changes single parts by chance, from a fixed seed, until so many are played or the orders take
  /// `least_s`: moves one, cuts a backward, makes one whole.
  void walk(std::int64_t most_played, double least_s);

  [[nodiscard]] double seconds() const { return play_.seconds(); }
  [[nodiscard]] const std::vector<Order>& orders() const { return play_.orders(); }
  [[nodiscard]] std::int64_t played() const { return play_.played(); }

 private:
  [[nodiscard]] std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(random_()) % count;
  }
  [[nodiscard]] OrderPlay::Spot pick();
  bool move(std::size_t position, std::size_t from);
  bool cut(std::size_t position, std::size_t at);
  bool join(std::size_t position, std::size_t at);
  [[nodiscard]] bool costs_to_cut(std::size_t position, const Part& part) const;
  bool take(std::size_t position, Order order, std::size_t from);

  const UnevenPipeline& pipeline_;
  OrderPlay play_;
  std::vector<OrderPlay::Spot> chain_;
  double chain_s_ = OrderPlay::kNever;
  int picked_ = 0;  ///< From the chain.
  std::mt19937 random_{1};
};

}  // namespace stepwright
