#include "stepwright/runtime/states/state_layout.h"

#include "stepwright/core/divide_up.h"

namespace stepwright {

std::int64_t StateLayout::blocks() const {
  return sharding.optimizer == Spread::kNone || owner ? 1 : inner * outer;
}

std::int64_t StateLayout::place(Spread spread) const {
  if (spread == Spread::kNone) return 0;
  return spread == Spread::kInner ? position : group * inner + position;
}

std::int64_t StateLayout::padded(std::int64_t elements) const {
  return divide_up(elements, blocks()) * blocks();
}

BlockRun StateLayout::held(Spread spread) const {
  if (owner) return {0, spread == Spread::kNone || place(spread) == *owner ? 1 : 0};
  switch (spread) {
    case Spread::kNone: return {0, blocks()};
    case Spread::kInner: return {position * outer, outer};
    case Spread::kGlobal: return {position * outer + group, 1};
  }
  return {};
}

std::int64_t StateLayout::shares(Spread spread) const {
  if (spread == Spread::kNone) return 1;
  return spread == Spread::kInner ? inner : inner * outer;
}

BlockRun StateLayout::held_by(std::int64_t index, Spread spread) const {
  StateLayout other = *this;
  other.position = index % inner;
  if (spread == Spread::kGlobal) other.group = index / inner;
  return other.held(spread);
}

bool StateLayout::first_holder(Spread spread) const {
  switch (spread) {
    case Spread::kNone: return group == 0 && position == 0;
    case Spread::kInner: return group == 0 && (!owner || *owner == position);
    case Spread::kGlobal: return !owner || *owner == place(spread);
  }
  return false;
}

StateLayout state_layout(const Sharding& sharding, std::int64_t inner, std::int64_t world,
                         std::int64_t index) {
  return {.sharding = sharding,
          .inner = inner,
          .outer = world / inner,
          .group = index / inner,
          .position = index % inner};
}

}  // namespace stepwright
