#include "stepwright/packing/pack_documents.h"

#include <algorithm>
#include <functional>

namespace stepwright::packing {
namespace {

std::vector<Documents> in_order(std::span<const std::int64_t> lengths, std::int64_t room) {
  std::vector<Documents> packs;
  std::int64_t left = -1;
  for (const std::int64_t length : lengths) {
    if (length > left) {
      packs.emplace_back();
      left = room;
    }
    packs.back().push_back(length);
    left -= length;
  }
  return packs;
}

/// Finds the first sequence with enough room, in a tree of maxima.
class Rooms {
 public:
  Rooms(std::size_t count, std::int64_t room) {
    while (leaves_ < count) leaves_ *= 2;
    most_.assign(2 * leaves_, room);
  }

  /// Reserves `length` tokens in the first sequence that has room, and returns the sequence's
  /// index. One must have room.
  std::size_t take(std::int64_t length) {
    std::size_t at = 1;
    while (at < leaves_) at = most_[2 * at] >= length ? 2 * at : 2 * at + 1;
    most_[at] -= length;
    const std::size_t found = at - leaves_;
    for (at /= 2; at > 0; at /= 2) most_[at] = std::max(most_[2 * at], most_[2 * at + 1]);
    return found;
  }

 private:
  std::size_t leaves_ = 1;
  std::vector<std::int64_t> most_;
};

std::vector<Documents> first_fit(std::span<const std::int64_t> lengths, std::int64_t room,
                                 PackingOrder order) {
  std::vector<std::int64_t> taken(lengths.begin(), lengths.end());
  if (order == PackingOrder::kLongestFirst) std::ranges::sort(taken, std::greater{});
  Rooms rooms(lengths.size(), room);
  std::vector<Documents> packs;
  for (const std::int64_t length : taken) {
    const std::size_t pack = rooms.take(length);
    if (pack == packs.size()) packs.emplace_back();
    packs[pack].push_back(length);
  }
  return packs;
}

}  // namespace

std::vector<Documents> pack_documents(std::span<const std::int64_t> lengths, std::int64_t room,
                                      PackingKind kind, PackingOrder order) {
  switch (kind) {
    case PackingKind::kNone: break;
    case PackingKind::kGreedy: return in_order(lengths, room);
    case PackingKind::kFirstFit: return first_fit(lengths, room, order);
    case PackingKind::kSorted: {
      std::vector<std::int64_t> ascending(lengths.begin(), lengths.end());
      std::ranges::sort(ascending);
      return in_order(ascending, room);
    }
  }
  std::vector<Documents> alone;
  for (const std::int64_t length : lengths) alone.push_back({length});
  return alone;
}

}  // namespace stepwright::packing
