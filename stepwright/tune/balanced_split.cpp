#include "stepwright/tune/balanced_split.h"

#include <algorithm>

#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::tune {
namespace {

/// Shares of the slowest position that are not worth another split.
constexpr double kWorthMoving = 1e-3;

class Balance {
 public:
  Balance(const Work& work, const LayerCounts& layers, const schedule::Schedule& schedule,
          const plan::Recompute& recompute, std::int64_t pipeline)
      : placement_(schedule::placement_of(schedule, pipeline)),
        pairs_(schedule.strands > 1),
        layers_(layers),
        head_s_(schedule::traits_of(schedule.kind).spreads_vocabulary ? 0 : work.head_s) {
    for (std::int64_t position = 0; position < pipeline; ++position) {
      const plan::Recompute own = plan::recompute_at(recompute, position);
      each_.push_back(&work.layer_s(plan::least_recomputed(own)));
      mean_s_.push_back(layers.sum(*each_.back(), 0, layers.layers()) /
                        static_cast<double>(layers.layers()));
    }
  }

  std::vector<std::int64_t> run() const {
    const std::vector<std::int64_t> even =
        plan::even_split(layers_.layers(), placement_.model_chunks());
    std::vector<std::int64_t> split = dealt();
    const bool gains = slowest_s(split) < slowest_s(even) * (1 - kWorthMoving);
    return gains ? split : std::vector<std::int64_t>{};
  }

 private:
  [[nodiscard]] std::size_t position_of(std::size_t chunk) const {
    return static_cast<std::size_t>(placement_.holder(static_cast<std::int64_t>(chunk)).position);
  }

  /// The position whose `seconds` are least, of equal ones the last, which holds activations of
  /// fewer micro-batches.
  static std::size_t lightest(const std::vector<double>& seconds) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < seconds.size(); ++i) {
      if (seconds[i] <= seconds[best]) best = i;
    }
    return best;
  }

  /// The chunk of a position that has least work; with two strands, of which layers run side by
  /// side, the one with fewest layers.
  [[nodiscard]] std::size_t lightest_chunk(std::size_t position,
                                           const std::vector<std::int64_t>& split) const {
    const auto work = [&](std::size_t chunk) {
      const double head_s = chunk + 1 == split.size() && !pairs_ ? head_s_ : 0;
      return head_s + static_cast<double>(split[chunk]) * mean_s_[position];
    };
    const auto held = static_cast<std::int64_t>(position);
    auto best = static_cast<std::size_t>(placement_.model_chunk({held, 0}));
    for (std::int64_t i = 1; i < placement_.chunks(); ++i) {
      const auto chunk = static_cast<std::size_t>(placement_.model_chunk({held, i}));
      if (work(chunk) <= work(best)) best = chunk;
    }
    return best;
  }

  /// Gives layers, all of the mean length, one by one to the position that has least work.
  [[nodiscard]] std::vector<std::int64_t> dealt() const {
    const std::int64_t chunks = placement_.model_chunks();
    const std::int64_t share = layers_.layers() / chunks;
    const std::int64_t least = share - share / 2;
    std::vector<std::int64_t> split(static_cast<std::size_t>(chunks), least);
    std::vector<double> position_s(static_cast<std::size_t>(placement_.positions()), 0);
    for (std::size_t i = 0; i < split.size(); ++i) {
      position_s[position_of(i)] += static_cast<double>(least) * mean_s_[position_of(i)];
    }
    position_s[position_of(split.size() - 1)] += head_s_;
    for (std::int64_t rest = layers_.layers() - least * chunks; rest > 0; --rest) {
      const std::size_t position = lightest(position_s);
      ++split[lightest_chunk(position, split)];
      position_s[position] += mean_s_[position];
    }
    return split;
  }

  /// Seconds of the slowest position, each layer as long as it is.
  [[nodiscard]] double slowest_s(const std::vector<std::int64_t>& split) const {
    std::vector<double> position_s(static_cast<std::size_t>(placement_.positions()), 0);
    position_s[position_of(split.size() - 1)] += head_s_;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < split.size(); ++i) {
      position_s[position_of(i)] += layers_.sum(*each_[position_of(i)], first, first + split[i]);
      first += split[i];
    }
    return std::ranges::max(position_s);
  }

  schedule::Placement placement_;
  bool pairs_;
  const LayerCounts& layers_;
  std::vector<const std::vector<double>*> each_;  ///< By position, then class of layer.
  std::vector<double> mean_s_;                    ///< By position.
  double head_s_;
};

}  // namespace

std::vector<std::int64_t> balanced_split(const Work& work, const LayerCounts& layers,
                                         const schedule::Schedule& schedule,
                                         const plan::Recompute& recompute, std::int64_t pipeline) {
  if (pipeline == 1) return {};
  return Balance(work, layers, schedule, recompute, pipeline).run();
}

std::optional<plan::Plan> with_balanced_split(WorkFloor& work, const plan::Plan& plan) {
  if (!plan.layers.empty()) return std::nullopt;
  plan::Plan split = plan;
  split.layers = balanced_split(work.rough(plan), work.layers(), plan.schedule, plan.recompute,
                                plan.parallel.pipeline);
  return split.layers.empty() ? std::nullopt : std::optional(std::move(split));
}

const std::vector<std::int64_t>& BalancedChoices::split(const Work& work, const StageChoice& choice,
                                                        std::int64_t pipeline) {
  const schedule::Schedule& schedule = choice.schedule;
  const auto [entry, fresh] =
      splits_.try_emplace({&work, pipeline, schedule::traits_of(schedule.kind).placement,
                           schedule::placement_of(schedule, pipeline).chunks(),
                           schedule.strands > 1, choice.recompute});
  if (fresh) {
    entry->second = balanced_split(work, work_.layers(), schedule, choice.recompute, pipeline);
  }
  return entry->second;
}

const StageChoice* BalancedChoices::of(const StageChoice& choice, const plan::Plan& plan) {
  if (!choice.balances) return nullptr;
  const std::int64_t pipeline = plan.parallel.pipeline;
  const Work& work = work_.rough(plan);
  const auto [entry, fresh] = known_.try_emplace({&choice, &work, pipeline});
  if (fresh) {
    const std::vector<std::int64_t>& split = this->split(work, choice, pipeline);
    if (!split.empty()) {
      entry->second = StageChoice{.schedule = choice.schedule,
                                  .recompute = choice.recompute,
                                  .layers = split,
                                  .balanced = true,
                                  .joint = choice.joint};
    }
  }
  return entry->second ? &*entry->second : nullptr;
}

}  // namespace stepwright::tune
