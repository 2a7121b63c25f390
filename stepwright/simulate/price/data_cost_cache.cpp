#include "stepwright/simulate/price/data_cost_cache.h"

namespace stepwright::simulate {
namespace {

constexpr std::size_t kPlaces = std::size_t{1} << 14;
/// Most update times remembered: some megabytes.
constexpr std::size_t kMostUpdates = std::size_t{1} << 15;

}  // namespace

ShardingCostCache::Key ShardingCostCache::key_of(const plan::Plan& plan, const Layouts& layouts,
                                                 const PipelinePositionCost& stage) {
  std::uint64_t choices = 0;
  const auto put = [&](auto value) { choices = choices << 6 | static_cast<std::uint64_t>(value); };
  put(plan.sharding.parameters);
  put(plan.sharding.gradients);
  put(plan.sharding.optimizer);
  put(plan.accumulate);
  put(plan.collectives.data);
  put(plan.sequence_parallel);
  put(plan.overlap.parameters);
  put(plan.overlap.gradients);
  put(stage.head);
  return {.layouts = &layouts,
          .choices = choices,
          .gradient_bucket = plan.gradient_bucket,
          .parameter_bucket = plan.parameter_bucket,
          .offload = plan.offload,
          .size = stage.size,
          .blocks = stage.blocks,
          .resting = stage.resting,
          .units = stage.units,
          .routed_units = stage.routed_units,
          .trained_units = stage.trained_units,
          .corrected = stage.corrected,
          .tied_table = stage.tied_table};
}

std::size_t ShardingCostCache::Hash::operator()(const Key& key) const {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key.layouts);
  const auto mix = [&](std::int64_t value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32;
  };
  mix(static_cast<std::int64_t>(key.choices));
  mix(key.size.dense + key.units);
  mix(key.size.expert);
  mix(key.gradient_bucket ^ key.parameter_bucket);
  return hash;
}

const ShardingCostCache::Entry& ShardingCostCache::get(const PositionPricingInput& at,
                                                       cost::OperatorTimeCache& computations) {
  if (places_.empty()) places_.resize(kPlaces);
  const Key key = key_of(at.plan, at.layouts, at.stage);
  std::uint16_t& place = places_[Hash()(key) % kPlaces];
  if (place == 0) {
    known_.emplace_back();
    place = static_cast<std::uint16_t>(known_.size());
  }
  Known& known = known_[place - 1U];
  if (!(known.key == key)) {
    known = {key, {data_cost(at, computations), data_memory(at.job, at.plan, at.stage)}};
  }
  return known.entry;
}

double ShardingCostCache::cached_step_end_seconds(const PositionPricingInput& at,
                                                  cost::OperatorTimeCache& computations) {
  Key key;
  key.layouts = &at.layouts;
  key.offload = at.plan.offload;
  key.size = at.stage.size;
  key.tied_table = at.stage.tied_table;
  key.corrected = at.stage.corrected;
  for (const auto value :
       {static_cast<int>(at.plan.sharding.gradients), static_cast<int>(at.plan.sharding.optimizer),
        static_cast<int>(at.plan.accumulate), static_cast<int>(at.plan.collectives.data),
        at.stage.head ? 1 : 0, at.plan.sequence_parallel ? 1 : 0}) {
    key.choices = key.choices << 8 | static_cast<std::uint64_t>(value);
  }
  if (updates_.size() > kMostUpdates) updates_.clear();
  const auto [entry, fresh] = updates_.try_emplace(key);
  if (fresh) entry->second = step_end_seconds(at, computations);
  return entry->second;
}

void ShardingCostCache::clear() {
  places_.clear();
  known_.clear();
  updates_.clear();
}

}  // namespace stepwright::simulate
