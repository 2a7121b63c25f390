#include "stepwright/simulate/price/data_cost_cache.h"

namespace stepwright {
namespace {

constexpr std::size_t kPlaces = std::size_t{1} << 14;

}  // namespace

DataCostCache::Key DataCostCache::key_of(const Plan& plan, const Layouts& layouts,
                                         const StageCost& stage) {
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
          .size = stage.size,
          .least_block = stage.least_block,
          .units = stage.units,
          .routed_units = stage.routed_units,
          .tied_table = stage.tied_table};
}

std::size_t DataCostCache::place_of(const Key& key) {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key.layouts);
  const auto mix = [&](std::int64_t value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32;
  };
  mix(static_cast<std::int64_t>(key.choices));
  mix(key.size.dense + key.units);
  mix(key.size.expert);
  mix(key.gradient_bucket ^ key.parameter_bucket);
  return hash % kPlaces;
}

const DataCostCache::Entry& DataCostCache::get(const PricedPosition& at, PriceTable& computations) {
  if (places_.empty()) places_.resize(kPlaces);
  const Key key = key_of(at.plan, at.layouts, at.stage);
  std::uint16_t& place = places_[place_of(key)];
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

void DataCostCache::clear() {
  places_.clear();
  known_.clear();
}

}  // namespace stepwright
