#include "stepwright/schedule/found/order_search.h"

#include <algorithm>
#include <utility>

namespace stepwright {
namespace {

/// How far a part is moved at most.
constexpr std::int64_t kFarthest = 8;
/// How far weight gradients are put off at most where a backward is cut.
constexpr std::int64_t kFarthestWeight = 16;
/// Picks from one chain; equal orders have others.
constexpr int kPicks = 32;
constexpr double kCutRounding = 1e-12;

/// Whether the parts of an order from one to another follow what they need of the same position.
bool in_sequence(const Order& order, std::size_t from, std::size_t until) {
  for (std::size_t i = from; i < until; ++i) {
    for (std::size_t k = i + 1; k <= until; ++k) {
      const Part& a = order[i];
      const Part& b = order[k];
      if (a.chunk == b.chunk && a.micro_batch == b.micro_batch && b.direction < a.direction) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

bool OrderSearch::take(std::size_t position, Order order, std::size_t from) {
  return play_.change(position, std::move(order), from, play_.seconds()) < OrderPlay::kNever;
}

bool OrderSearch::costs_to_cut(std::size_t position, const Part& part) const {
  const PartSeconds& seconds =
      pipeline_.seconds.parts[position][static_cast<std::size_t>(part.chunk)];
  return seconds.data + seconds.weight > seconds.backward * (1 + kCutRounding);
}

bool OrderSearch::move(std::size_t position, std::size_t from) {
  const Order& order = play_.orders()[position];
  const auto begin = static_cast<std::int64_t>(from);
  const std::int64_t to = begin + below(2 * kFarthest + 1) - kFarthest;
  if (to == begin || to < 0 || to >= std::ssize(order)) return false;
  Order moved = order;
  const std::int64_t first = std::min(begin, to);
  const std::int64_t last = std::max(begin, to);
  std::rotate(moved.begin() + first, moved.begin() + (begin < to ? first + 1 : last),
              moved.begin() + last + 1);
  const bool follows =
      in_sequence(moved, static_cast<std::size_t>(first), static_cast<std::size_t>(last));
  if (!follows || !has_room(pipeline_, position, moved)) return false;
  return take(position, std::move(moved), static_cast<std::size_t>(first));
}

bool OrderSearch::cut(std::size_t position, std::size_t at) {
  Order parts = play_.orders()[position];
  const std::int64_t last =
      std::min<std::int64_t>(std::ssize(parts), static_cast<std::int64_t>(at) + kFarthestWeight);
  const std::int64_t weight =
      static_cast<std::int64_t>(at) + 1 + below(last - static_cast<std::int64_t>(at));
  Part part = parts[at];
  parts[at].direction = Direction::kDataGradient;
  part.direction = Direction::kWeightGradient;
  parts.insert(parts.begin() + weight, part);
  if (!has_room(pipeline_, position, parts)) return false;
  return take(position, std::move(parts), at);
}

bool OrderSearch::join(std::size_t position, std::size_t at) {
  Order parts = play_.orders()[position];
  Part weight = parts[at];
  weight.direction = Direction::kWeightGradient;
  const auto found =
      std::find(parts.begin() + static_cast<std::ptrdiff_t>(at), parts.end(), weight);
  parts.erase(found);
  parts[at].direction = Direction::kBackward;
  return take(position, std::move(parts), at);
}

void OrderSearch::join() {
  for (std::size_t position = play_.orders().size(); position-- > 0;) {
    for (std::size_t i = play_.orders()[position].size(); i-- > 0;) {
      const Part& part = play_.orders()[position][i];
      if (part.direction == Direction::kDataGradient && costs_to_cut(position, part)) {
        join(position, i);
      }
    }
  }
}

/// A part to change: of four three from a chain that no change elsewhere makes shorter.
OrderPlay::Spot OrderSearch::pick() {
  const auto any = [&](std::size_t count) {
    return static_cast<std::size_t>(below(static_cast<std::int64_t>(count)));
  };
  if (below(4) == 0) {
    const std::size_t position = any(play_.orders().size());
    return {position, any(play_.orders()[position].size())};
  }
  if (picked_ == kPicks || play_.seconds() < chain_s_) {
    chain_ = play_.critical();
    chain_s_ = play_.seconds();
    picked_ = 0;
  }
  ++picked_;
  OrderPlay::Spot spot = chain_[any(chain_.size())];
  spot.index = std::min(spot.index, play_.orders()[spot.position].size() - 1);
  return spot;
}

void OrderSearch::walk(std::int64_t most_played, double least_s) {
  while (play_.played() < most_played && play_.seconds() > least_s) {
    const auto [position, at] = pick();
    const Part& part = play_.orders()[position][at];
    const bool change = costs_to_cut(position, part) && below(2) == 0;
    if (change && part.direction == Direction::kBackward) {
      cut(position, at);
    } else if (change && part.direction == Direction::kDataGradient) {
      join(position, at);
    } else {
      move(position, at);
    }
  }
}

}  // namespace stepwright
