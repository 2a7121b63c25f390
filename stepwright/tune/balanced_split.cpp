#include "stepwright/tune/balanced_split.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "stepwright/core/divide_up.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::tune {
namespace {

/// A gain below this share of the slowest position's time is not worth another split.
constexpr double kWorthMoving = 1e-3;

/// Returns the level of seconds up to which `count` pieces fill the places if pieces could be cut:
/// place i starts with `begin[i]` seconds, and a piece takes `units[i]` seconds there.
double filled_to(const std::vector<double>& begin, const std::vector<double>& units,
                 std::int64_t count) {
  std::vector<std::size_t> order(begin.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return begin[i]; });
  double pieces = static_cast<double>(count);
  double per_second = 0;
  double level = 0;
  for (const std::size_t i : order) {
    if (per_second > 0 && level <= begin[i]) break;
    pieces += begin[i] / units[i];
    per_second += 1 / units[i];
    level = pieces / per_second;
  }
  return level;
}

/// Gives `count` pieces one by one to the place with the least seconds, of equal places to the
/// last, since a later pipeline position holds activations of fewer micro-batches. `with(i, n)`:
/// seconds of place i with n pieces. Returns the number of pieces of each place. Pieces that a
/// place gets in every order, because it stays below all others, are given at once.
template <class With>
std::vector<std::int64_t> deal_evenly(std::vector<double> seconds, const std::vector<double>& units,
                                      std::int64_t count, With&& with) {
  std::vector<std::int64_t> dealt(seconds.size(), 0);
  const auto give = [&](std::size_t place, std::int64_t pieces) {
    dealt[place] += pieces;
    seconds[place] = with(place, dealt[place]);
  };
  std::int64_t rest = count;
  if (std::ranges::min(units) > 0) {
    const double sure = filled_to(seconds, units, count) - std::ranges::max(units);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const auto most = static_cast<std::int64_t>((sure - seconds[i]) / units[i]) - 1;
      if (most <= 0) continue;
      give(i, most);
      rest -= most;
    }
  }
  // seconds of a place, and its negative index (of equal places the last comes first)
  using Entry = std::pair<double, std::ptrdiff_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> least;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    least.emplace(seconds[i], -static_cast<std::ptrdiff_t>(i));
  }
  for (; rest > 0; --rest) {
    const auto place = static_cast<std::size_t>(-least.top().second);
    least.pop();
    give(place, 1);
    least.emplace(seconds[place], -static_cast<std::ptrdiff_t>(place));
  }
  return dealt;
}

class Balance {
 public:
  Balance(const LeastPlanWork& work, const LayerCountsByClass& layers,
          const schedule::PipelineSchedule& schedule,
          const plan::ActivationRecomputation& recompute, std::int64_t pipeline)
      : placement_(schedule::model_chunk_placement(schedule, pipeline)),
        pairs_(schedule.strands > 1),
        layers_(layers),
        head_s_(schedule::traits_of(schedule.kind).spreads_vocabulary ? 0 : work.head_s) {
    for (std::int64_t position = 0; position < pipeline; ++position) {
      const plan::ActivationRecomputation own =
          plan::recompute_of_pipeline_rank(recompute, position);
      each_.push_back(&work.layer_seconds_by_layer_class(plan::common_layer_recompute(own)));
      mean_s_.push_back(layers.sum_over_layers(*each_.back(), 0, layers.layers()) /
                        static_cast<double>(layers.layers()));
    }
  }

  std::vector<std::int64_t> run() const {
    const double even_s =
        slowest_s(plan::even_layer_split(layers_.layers(), placement_.model_chunk_count()));
    if (least_s() > even_s * (1 - kWorthMoving)) return {};
    std::vector<std::int64_t> split = dealt();
    const bool gains = slowest_s(split) < even_s * (1 - kWorthMoving);
    return gains ? split : std::vector<std::int64_t>{};
  }

 private:
  [[nodiscard]] std::size_t position_of(std::size_t chunk) const {
    return static_cast<std::size_t>(
        placement_.place_of_model_chunk(static_cast<std::int64_t>(chunk)).position);
  }

  /// Returns the seconds of a chunk of a position that has `layers`; with two strands, whose layers
  /// run side by side, only layers count.
  [[nodiscard]] double chunk_s(std::int64_t chunk, std::int64_t layers,
                               std::size_t position) const {
    const bool head = chunk + 1 == placement_.model_chunk_count() && !pairs_;
    return (head ? head_s_ : 0) + static_cast<double>(layers) * mean_s_[position];
  }

  /// Returns the seconds of each position if every chunk has `layers`.
  [[nodiscard]] std::vector<double> positions_s(std::int64_t layers) const {
    std::vector<double> position_s(static_cast<std::size_t>(placement_.positions()), 0);
    for (std::int64_t chunk = 0; chunk < placement_.model_chunk_count(); ++chunk) {
      const std::size_t position = position_of(static_cast<std::size_t>(chunk));
      position_s[position] += static_cast<double>(layers) * mean_s_[position];
    }
    position_s[static_cast<std::size_t>(placement_.head_position())] += head_s_;
    return position_s;
  }

  /// Distributes the layers of a position over its chunks, each of which already has `least` of
  /// them.
  [[nodiscard]] std::vector<std::int64_t> dealt_chunks(std::int64_t position, std::int64_t layers,
                                                       std::int64_t least) const {
    const auto held = static_cast<std::size_t>(position);
    const auto seconds = [&](std::size_t i, std::int64_t more) {
      const schedule::ModelChunkPosition place{position, static_cast<std::int64_t>(i)};
      return chunk_s(placement_.model_chunk_index(place), least + more, held);
    };
    std::vector<double> begin;
    for (std::int64_t i = 0; i < placement_.chunks(); ++i) {
      begin.push_back(seconds(static_cast<std::size_t>(i), 0));
    }
    const std::vector<double> units(begin.size(), mean_s_[held]);
    return deal_evenly(std::move(begin), units, layers, seconds);
  }

  /// Gives layers one by one, all taken as of mean length, to the position with the least work, and
  /// there to the chunk with the least.
  [[nodiscard]] std::vector<std::int64_t> dealt() const {
    const std::int64_t chunks = placement_.model_chunk_count();
    const std::int64_t share = layers_.layers() / chunks;
    const std::int64_t least = share - share / 2;
    std::vector<std::int64_t> split(static_cast<std::size_t>(chunks), least);
    const std::vector<double> begin = positions_s(least);
    const auto seconds = [&](std::size_t position, std::int64_t more) {
      return begin[position] + static_cast<double>(more) * mean_s_[position];
    };
    const std::vector<std::int64_t> of_position =
        deal_evenly(begin, mean_s_, layers_.layers() - least * chunks, seconds);
    // Positions without the head with equally many layers of equal length get the same
    // distribution.
    std::map<std::tuple<std::int64_t, double, bool>, std::vector<std::int64_t>> known;
    for (std::int64_t position = 0; position < std::ssize(of_position); ++position) {
      const auto i = static_cast<std::size_t>(position);
      const bool head = position == placement_.head_position();
      const auto [entry, fresh] = known.try_emplace({of_position[i], mean_s_[i], head});
      if (fresh) entry->second = dealt_chunks(position, of_position[i], least);
      for (std::int64_t k = 0; k < placement_.chunks(); ++k) {
        split[static_cast<std::size_t>(placement_.model_chunk_index({position, k}))] +=
            entry->second[static_cast<std::size_t>(k)];
      }
    }
    return split;
  }

  /// Returns a lower bound of the slowest position over all splits: some position has at least the
  /// mean number of layers, and at least the mean work.
  [[nodiscard]] double least_s() const {
    const auto positions = placement_.positions();
    double all_s = head_s_;
    double shortest_s = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < layers_.layer_classes().size(); ++k) {
      double each_s = std::numeric_limits<double>::infinity();
      for (const std::vector<double>* each : each_) each_s = std::min(each_s, (*each)[k]);
      all_s += each_s * static_cast<double>(layers_.count(k));
      shortest_s = std::min(shortest_s, each_s);
    }
    const auto most = static_cast<double>(ceil_divide(layers_.layers(), positions));
    constexpr double kRounding = 1e-9;
    return std::max(all_s / static_cast<double>(positions), most * shortest_s) * (1 - kRounding);
  }

  /// Returns the seconds of the slowest position, each layer with its own length.
  [[nodiscard]] double slowest_s(const std::vector<std::int64_t>& split) const {
    std::vector<double> position_s(static_cast<std::size_t>(placement_.positions()), 0);
    position_s[position_of(split.size() - 1)] += head_s_;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < split.size(); ++i) {
      position_s[position_of(i)] +=
          layers_.sum_over_layers(*each_[position_of(i)], first, first + split[i]);
      first += split[i];
    }
    return std::ranges::max(position_s);
  }

  schedule::ModelChunkPlacement placement_;
  bool pairs_;
  const LayerCountsByClass& layers_;
  std::vector<const std::vector<double>*> each_;  ///< Seconds by position, then class of layer.
  std::vector<double> mean_s_;                    ///< Mean seconds of a layer, by position.
  double head_s_;
};

}  // namespace

std::vector<std::int64_t> balanced_layer_split(const LeastPlanWork& work,
                                               const LayerCountsByClass& layers,
                                               const schedule::PipelineSchedule& schedule,
                                               const plan::ActivationRecomputation& recompute,
                                               std::int64_t pipeline) {
  if (pipeline == 1) return {};
  return Balance(work, layers, schedule, recompute, pipeline).run();
}

std::optional<plan::Plan> with_balanced_layers(WorkLowerBounds& work, const plan::Plan& plan) {
  if (!plan.layers.empty()) return std::nullopt;
  plan::Plan split = plan;
  split.layers =
      balanced_layer_split(work.work_lower_bound_over_expert_degrees(plan), work.layers(),
                           plan.schedule, plan.recompute, plan.parallel.pipeline);
  return split.layers.empty() ? std::nullopt : std::optional(std::move(split));
}

const std::vector<std::int64_t>& BalancedLayerSplitter::split(const LeastPlanWork& work,
                                                              const PipelineStageChoice& choice,
                                                              std::int64_t pipeline) {
  const schedule::PipelineSchedule& schedule = choice.schedule;
  const auto [entry, fresh] =
      splits_.try_emplace({&work, pipeline, schedule::traits_of(schedule.kind).placement,
                           schedule::model_chunk_placement(schedule, pipeline).chunks(),
                           schedule.strands > 1, choice.recompute});
  if (fresh) {
    entry->second =
        balanced_layer_split(work, work_.layers(), schedule, choice.recompute, pipeline);
  }
  return entry->second;
}

std::size_t BalancedLayerSplitter::Hash::operator()(const BalancedLayerSplitKey& key) const {
  constexpr std::size_t kOdd = 0x9e3779b97f4a7c15;
  std::size_t hash = std::hash<const void*>()(key.choice);
  hash = (hash ^ (hash >> 29)) * kOdd + std::hash<const void*>()(key.work);
  return (hash ^ (hash >> 29)) * kOdd + static_cast<std::size_t>(key.pipeline);
}

const PipelineStageChoice* BalancedLayerSplitter::balanced_variant_of(
    const PipelineStageChoice& choice, const plan::Plan& plan) {
  if (!choice.is_balanced_split_tried) return nullptr;
  const std::int64_t pipeline = plan.parallel.pipeline;
  const LeastPlanWork& work = work_.work_lower_bound_over_expert_degrees(plan);
  const auto [entry, fresh] = known_.try_emplace(BalancedLayerSplitKey{&choice, &work, pipeline});
  if (fresh) {
    const std::vector<std::int64_t>& split = this->split(work, choice, pipeline);
    if (!split.empty()) {
      entry->second = PipelineStageChoice{.schedule = choice.schedule,
                                          .recompute = choice.recompute,
                                          .layers = split,
                                          .balanced = true,
                                          .joint = choice.joint};
    }
  }
  return entry->second ? &*entry->second : nullptr;
}

}  // namespace stepwright::tune
