#include "stepwright/runtime/states/state_layout.h"

#include "stepwright/core/divide_up.h"

namespace stepwright::runtime {

std::int64_t StateShardingLayout::blocks() const {
  return sharding.optimizer == plan::Spread::kNone || owner ? 1 : inner * outer;
}

std::int64_t StateShardingLayout::place(plan::Spread spread) const {
  if (spread == plan::Spread::kNone) return 0;
  return spread == plan::Spread::kInner ? position : group * inner + position;
}

std::int64_t StateShardingLayout::padded(std::int64_t elements) const {
  return ceil_divide(elements, blocks()) * blocks();
}

ShardBlockRun StateShardingLayout::held(plan::Spread spread) const {
  if (owner) return {0, spread == plan::Spread::kNone || place(spread) == *owner ? 1 : 0};
  switch (spread) {
    case plan::Spread::kNone: return {0, blocks()};
    case plan::Spread::kInner: return {position * outer, outer};
    case plan::Spread::kGlobal: return {position * outer + group, 1};
  }
  return {};
}

std::int64_t StateShardingLayout::shares(plan::Spread spread) const {
  if (spread == plan::Spread::kNone) return 1;
  return spread == plan::Spread::kInner ? inner : inner * outer;
}

ShardBlockRun StateShardingLayout::held_by(std::int64_t index, plan::Spread spread) const {
  StateShardingLayout other = *this;
  other.position = index % inner;
  if (spread == plan::Spread::kGlobal) other.group = index / inner;
  return other.held(spread);
}

bool StateShardingLayout::is_first_holder(plan::Spread spread) const {
  switch (spread) {
    case plan::Spread::kNone: return group == 0 && position == 0;
    case plan::Spread::kInner: return group == 0 && (!owner || *owner == position);
    case plan::Spread::kGlobal: return !owner || *owner == place(spread);
  }
  return false;
}

StateShardingLayout state_sharding_layout(const plan::Sharding& sharding, std::int64_t inner,
                                          std::int64_t world, std::int64_t index) {
  return {.sharding = sharding,
          .inner = inner,
          .outer = world / inner,
          .group = index / inner,
          .position = index % inner};
}

}  // namespace stepwright::runtime
