#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "stepwright/schedule/found/list_scheduler.h"

namespace stepwright {

/// Plays the orders of an uneven pipeline again and again as they are changed a little: what began
/// before the change stays as it was, and who cannot be in time is not played to the end. The same
/// seconds as `TurnPlayer` for turns of one part each.
class OrderPlay {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  explicit OrderPlay(const UnevenPipeline& pipeline);

  /// Keeps `orders`, by position, whatever they take: the makespan, or `kNever` where parts wait
  /// for each other.
  double start(std::vector<Order> orders);
  /// Takes `changed` as the order of a position, the same up to its part `from`, unless the
  /// makespan would then be above `limit_s`. The makespan if it took it, else `kNever`.
  double change(std::size_t position, Order changed, std::size_t from, double limit_s);

  [[nodiscard]] const std::vector<Order>& orders() const { return orders_; }
  [[nodiscard]] double seconds() const { return seconds_; }
  /// When the parts of a position begin.
  [[nodiscard]] const std::vector<double>& starts(std::size_t position) const {
    return starts_[position];
  }
  /// A part in an order.
  struct Spot {
    std::size_t position = 0;
    std::size_t index = 0;
  };
  /// Parts of which each begins as soon as the one before it in the list lets it, up to the end of
  /// all: no order is shorter that leaves these as they are.
  [[nodiscard]] std::vector<Spot> critical() const;
  /// What one part takes.
  [[nodiscard]] double of(std::size_t position, const Part& part) const {
    return pipeline_.seconds.parts[position][static_cast<std::size_t>(part.chunk)].of(
        part.direction);
  }
  /// Parts played so far, by which a search counts its time.
  [[nodiscard]] std::int64_t played() const { return played_; }

 private:
  /// What the parts of a chunk wait for, and where their ends are kept: rows of `ends_`.
  struct Row {
    std::int64_t own = 0;
    std::int64_t awaited = -1;  ///< -1: nothing.
    double hop_s = 0;
    double behind_s = 0;  ///< What must follow on other positions.
  };
  struct Rows {
    Row forward, backward;
  };
  /// How far a position is.
  struct Lane {
    std::size_t first = 0;  ///< Of the parts that are played.
    std::size_t next = 0;
    double free_s = 0;
    double left_s = 0;  ///< Of its parts that are to come.
  };
  void make_rows();
  [[nodiscard]] Spot awaited(const Spot& spot) const;
  [[nodiscard]] const Row* row_of(std::size_t position, const Part& part) const;
  [[nodiscard]] std::size_t cell(std::int64_t row, const Part& part) const {
    return static_cast<std::size_t>(row * pipeline_.micro_batches + part.micro_batch);
  }
  void rewind(std::size_t position, std::size_t from);
  void prepare(std::size_t position);
  void keep(double seconds);
  [[nodiscard]] double run(double limit_s);
  [[nodiscard]] bool advance(std::size_t position, double limit_s);

  const UnevenPipeline& pipeline_;
  std::vector<std::vector<Rows>> rows_;  ///< By position, then chunk.
  std::vector<Order> orders_;
  std::vector<std::vector<double>> starts_;
  std::vector<double>
      ends_;  ///< Of forwards, and of backwards or data gradients; negative: not yet.
  double seconds_ = kNever;
  // Of the play at hand.
  std::vector<Lane> lanes_;
  std::vector<std::vector<double>> new_starts_;
  std::vector<double> new_ends_;
  bool moved_ = false;
  std::int64_t played_ = 0;
};

}  // namespace stepwright
