#include "stepwright/schedule/found/order_play.h"

#include <algorithm>
#include <utility>

namespace stepwright {
namespace {

constexpr double kUnknown = -1;
/// Sums of the same seconds in another order differ by less.
constexpr double kSumRounding = 1e-9;

}  // namespace

OrderPlay::OrderPlay(const UnevenPipeline& pipeline)
    : pipeline_(pipeline),
      ends_(
          static_cast<std::size_t>(2 * pipeline.placement.model_chunks() * pipeline.micro_batches),
          kUnknown) {
  make_rows();
}

void OrderPlay::make_rows() {
  const Placement& placement = pipeline_.placement;
  const std::int64_t chunks = placement.model_chunks();
  rows_.assign(pipeline_.seconds.parts.size(),
               std::vector<Rows>(static_cast<std::size_t>(placement.chunks())));
  double behind_s = 0;
  for (std::int64_t i = 0; i < chunks; ++i) {
    const Place own = placement.holder(i);
    const auto position = static_cast<std::size_t>(own.position);
    const PartSeconds& part =
        pipeline_.seconds.parts[position][static_cast<std::size_t>(own.chunk)];
    Rows& rows = rows_[position][static_cast<std::size_t>(own.chunk)];
    const auto hop_s = [&](const Place& other) {
      return other.position == own.position ? 0 : pipeline_.seconds.hop_s;
    };
    rows.forward.own = i;
    if (i > 0) {
      const double hop = hop_s(placement.holder(i - 1));
      rows.forward.awaited = i - 1;
      rows.forward.hop_s = hop;
      behind_s += hop;
    }
    rows.backward = {.own = chunks + i,
                     .awaited = i + 1 < chunks ? chunks + i + 1 : i,
                     .hop_s = i + 1 < chunks ? hop_s(placement.holder(i + 1)) : 0,
                     .behind_s = behind_s};
    behind_s += std::min(part.data, part.backward);
  }
  for (std::int64_t i = chunks; i-- > 0;) {
    const Place own = placement.holder(i);
    const auto position = static_cast<std::size_t>(own.position);
    const auto chunk = static_cast<std::size_t>(own.chunk);
    const PartSeconds& part = pipeline_.seconds.parts[position][chunk];
    rows_[position][chunk].forward.behind_s = behind_s;
    behind_s += part.forward + rows_[position][chunk].forward.hop_s;
  }
}

const OrderPlay::Row* OrderPlay::row_of(std::size_t position, const Part& part) const {
  const Rows& rows = rows_[position][static_cast<std::size_t>(part.chunk)];
  switch (part.direction) {
    case Direction::kForward: return &rows.forward;
    case Direction::kWeightGradient: return nullptr;
    default: return &rows.backward;
  }
}

/// Forgets what a position does from its part `from` on.
void OrderPlay::rewind(std::size_t position, std::size_t from) {
  const Order& order = orders_[position];
  Lane& lane = lanes_[position];
  lane = {.first = from, .next = from};
  if (from > 0) lane.free_s = starts_[position][from - 1] + of(position, order[from - 1]);
  for (std::size_t i = from; i < order.size(); ++i) {
    const Row* row = row_of(position, order[i]);
    if (row != nullptr) new_ends_[cell(row->own, order[i])] = kUnknown;
  }
}

/// Sums what is left of a position.
void OrderPlay::prepare(std::size_t position) {
  const Order& order = orders_[position];
  Lane& lane = lanes_[position];
  for (std::size_t i = lane.first; i < order.size(); ++i) lane.left_s += of(position, order[i]);
  new_starts_[position].resize(order.size());
}

/// Keeps what was played.
void OrderPlay::keep(double seconds) {
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    starts_[i].resize(orders_[i].size());
    const auto first = static_cast<std::ptrdiff_t>(lanes_[i].first);
    std::copy(new_starts_[i].begin() + first, new_starts_[i].end(), starts_[i].begin() + first);
  }
  ends_.swap(new_ends_);
  seconds_ = seconds;
}

/// Plays a position as far as what it waits for is known; false where it cannot be in time.
bool OrderPlay::advance(std::size_t position, double limit_s) {
  const Order& order = orders_[position];
  Lane& lane = lanes_[position];
  for (; lane.next < order.size(); ++lane.next) {
    const Part& part = order[lane.next];
    const Row* row = row_of(position, part);
    double start_s = lane.free_s;
    if (row != nullptr && row->awaited >= 0) {
      const double ended = new_ends_[cell(row->awaited, part)];
      if (ended < 0) return true;
      start_s = std::max(start_s, ended + row->hop_s);
    }
    const double own_s = of(position, part);
    lane.free_s = start_s + own_s;
    lane.left_s -= own_s;
    const double behind_s = row == nullptr ? 0 : row->behind_s;
    if (lane.free_s + std::max(lane.left_s, behind_s) > limit_s) return false;
    new_starts_[position][lane.next] = start_s;
    if (row != nullptr) new_ends_[cell(row->own, part)] = lane.free_s;
    ++played_;
    moved_ = true;
  }
  return true;
}

/// Plays on from where the lanes are.
double OrderPlay::run(double limit_s) {
  const double above_s = limit_s * (1 + kSumRounding);
  for (moved_ = true; moved_;) {
    moved_ = false;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (!advance(i, above_s)) return kNever;
    }
  }
  double last_s = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].next < orders_[i].size()) return kNever;
    last_s = std::max(last_s, lanes_[i].free_s);
  }
  return last_s > limit_s ? kNever : last_s;
}

double OrderPlay::start(std::vector<Order> orders) {
  orders_ = std::move(orders);
  starts_.assign(orders_.size(), {});
  new_starts_ = starts_;
  new_ends_.assign(ends_.size(), kUnknown);
  lanes_.assign(orders_.size(), {});
  for (std::size_t i = 0; i < orders_.size(); ++i) prepare(i);
  keep(run(kNever));
  return seconds_;
}

double OrderPlay::change(std::size_t position, Order changed, std::size_t from, double limit_s) {
  ++played_;
  new_ends_ = ends_;
  const double since_s = starts_[position][from];
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    const auto first = std::ranges::lower_bound(starts_[i], since_s) - starts_[i].begin();
    rewind(i, i == position ? from : static_cast<std::size_t>(first));
  }
  orders_[position].swap(changed);
  for (std::size_t i = 0; i < orders_.size(); ++i) prepare(i);
  const double seconds = run(limit_s);
  if (seconds == kNever) {
    orders_[position].swap(changed);
  } else {
    keep(seconds);
  }
  return seconds;
}

std::vector<OrderPlay::Spot> OrderPlay::critical() const {
  const auto end_s = [&](const Spot& spot) {
    return starts_[spot.position][spot.index] +
           of(spot.position, orders_[spot.position][spot.index]);
  };
  Spot at;
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    const Spot last{i, orders_[i].size() - 1};
    if (i == 0 || end_s(last) > end_s(at)) at = last;
  }
  std::vector<Spot> chain{at};
  while (starts_[at.position][at.index] > 0) {
    const double start_s = starts_[at.position][at.index];
    if (at.index > 0 && end_s({at.position, at.index - 1}) >= start_s) {
      --at.index;
    } else {
      at = awaited(at);
    }
    chain.push_back(at);
  }
  return chain;
}

/// The part that another waits for.
OrderPlay::Spot OrderPlay::awaited(const Spot& spot) const {
  const Part& part = orders_[spot.position][spot.index];
  const bool forward = part.direction == Direction::kForward;
  const Place own{static_cast<std::int64_t>(spot.position), part.chunk};
  const auto before = forward ? pipeline_.placement.previous(own) : pipeline_.placement.next(own);
  const Place other = before.value_or(own);
  const bool of_forward = forward || !before;
  const auto position = static_cast<std::size_t>(other.position);
  const Order& order = orders_[position];
  const auto found = std::ranges::find_if(order, [&](const Part& one) {
    const bool direction = of_forward ? one.direction == Direction::kForward
                                      : one.direction == Direction::kBackward ||
                                            one.direction == Direction::kDataGradient;
    return direction && one.chunk == other.chunk && one.micro_batch == part.micro_batch;
  });
  return {position, static_cast<std::size_t>(found - order.begin())};
}

}  // namespace stepwright
