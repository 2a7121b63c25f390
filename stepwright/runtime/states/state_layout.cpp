#include "stepwright/runtime/states/state_layout.h"

#include "stepwright/core/divide_up.h"

namespace stepwright::runtime {

std::int64_t StateShardingLayout::blocks() const {
  return sharding.optimizer == plan::StateShardingScope::kNone || owner ? 1 : inner * outer;
}

std::int64_t StateShardingLayout::shard_index_of_rank(plan::StateShardingScope spread) const {
  if (spread == plan::StateShardingScope::kNone) return 0;
  return spread == plan::StateShardingScope::kInner ? position : group * inner + position;
}

std::int64_t StateShardingLayout::padded_element_count(std::int64_t elements) const {
  return ceil_divide(elements, blocks()) * blocks();
}

ShardBlockRun StateShardingLayout::shard_blocks_on_this_rank(
    plan::StateShardingScope spread) const {
  if (owner)
    return {0, spread == plan::StateShardingScope::kNone || shard_index_of_rank(spread) == *owner
                   ? 1
                   : 0};
  switch (spread) {
    case plan::StateShardingScope::kNone: return {0, blocks()};
    case plan::StateShardingScope::kInner: return {position * outer, outer};
    case plan::StateShardingScope::kGlobal: return {position * outer + group, 1};
  }
  return {};
}

std::int64_t StateShardingLayout::shard_count_of_spread(plan::StateShardingScope spread) const {
  if (spread == plan::StateShardingScope::kNone) return 1;
  return spread == plan::StateShardingScope::kInner ? inner : inner * outer;
}

ShardBlockRun StateShardingLayout::held_by(std::int64_t index,
                                           plan::StateShardingScope spread) const {
  StateShardingLayout other = *this;
  other.position = index % inner;
  if (spread == plan::StateShardingScope::kGlobal) other.group = index / inner;
  return other.shard_blocks_on_this_rank(spread);
}

bool StateShardingLayout::is_first_rank_holding_shard(plan::StateShardingScope spread) const {
  switch (spread) {
    case plan::StateShardingScope::kNone: return group == 0 && position == 0;
    case plan::StateShardingScope::kInner: return group == 0 && (!owner || *owner == position);
    case plan::StateShardingScope::kGlobal: return !owner || *owner == shard_index_of_rank(spread);
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
