#include "stepwright/simulate/price/layout_store.h"

#include <unordered_map>

namespace stepwright::simulate {

struct GroupLayoutCache::Entries {
  /// Everything that group layouts depend on.
  struct Key {
    plan::ParallelismDegrees parallel;
    std::int64_t group, expert_group;
    plan::StateShardingScope optimizer;
    plan::RankOrder order;
    bool operator==(const Key&) const = default;
  };

  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::size_t hash = 1469598103934665603ULL;
      const auto mix = [&](std::int64_t value) {
        hash = (hash ^ static_cast<std::size_t>(value)) * 1099511628211ULL;
        hash ^= hash >> 29;
      };
      for (const std::int64_t value :
           {key.parallel.tensor, key.parallel.pipeline, key.parallel.context, key.parallel.expert,
            key.parallel.expert_tensor, key.parallel.data, key.group, key.expert_group}) {
        mix(value);
      }
      mix(static_cast<std::int64_t>(key.optimizer));
      for (const plan::ParallelismAxis axis : key.order.axes) mix(static_cast<std::int64_t>(axis));
      return hash;
    }
  };

  std::unordered_map<Key, Layouts, Hash> layouts;
};

GroupLayoutCache::GroupLayoutCache(const cluster::Cluster& cluster)
    : cluster_(cluster), entries_(std::make_unique<Entries>()) {}

GroupLayoutCache::~GroupLayoutCache() = default;

const Layouts& GroupLayoutCache::get(const plan::Plan& plan) {
  const Entries::Key key{plan.parallel, plan.sharding.group, plan.sharding.expert_group,
                         plan.sharding.optimizer, plan.rank_order};
  auto found = entries_->layouts.find(key);
  if (found == entries_->layouts.end()) {
    found = entries_->layouts
                .emplace(key, cost::rank_group_network_layouts(cluster_, plan::RankGrid(plan)))
                .first;
  }
  return found->second;
}

bool GroupLayoutCache::is_layout_cache_full() const { return entries_->layouts.size() >= 2048; }

void GroupLayoutCache::clear() { entries_->layouts.clear(); }

}  // namespace stepwright::simulate
