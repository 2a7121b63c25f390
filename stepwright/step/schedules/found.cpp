#include "stepwright/step/schedules/found.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/step/schedule_facts.h"
#include "stepwright/step/schedules/generators.h"

namespace stepwright {
namespace {

constexpr double kUnreached = std::numeric_limits<double>::infinity();
/// Turns played to find an order: about two tenths of a second.
constexpr std::int64_t kPlayedTurns = 4'000'000;
/// How far a turn is moved at most.
constexpr std::int64_t kFarthest = 8;
constexpr double kRounding = 1e-12;

/// Turns with every backward in two.
Turns cut(const Turns& turns) {
  Turns parts;
  for (const Part& part : parts_of(turns)) {
    if (part.direction != Direction::kBackward) {
      parts.push_back({part, std::nullopt});
      continue;
    }
    parts.push_back(turn_of(Direction::kDataGradient, part.chunk, part.micro_batch));
    parts.push_back(turn_of(Direction::kWeightGradient, part.chunk, part.micro_batch));
  }
  return parts;
}

std::int64_t most_held(const Turns& turns) {
  std::int64_t held = 0;
  std::int64_t most = 0;
  for (const Turn& turn : turns) {
    if (turn.part.direction == Direction::kForward) most = std::max(most, ++held);
    if (turn.part.direction == Direction::kWeightGradient) --held;
  }
  return most;
}

class Finder {
 public:
  explicit Finder(const UnevenPipeline& pipeline)
      : pipeline_(pipeline),
        least_s_(least_s()),
        most_held_(static_cast<std::int64_t>(
            pipeline.most_activations * static_cast<double>(pipeline.placement.chunks()) + 1e-9)) {
    if (most_held_ < pipeline.placement.chunks()) {
      fail_input(fmt::format("a position may hold {:g} activations, and one micro-batch needs 1",
                             pipeline.most_activations));
    }
  }

  std::vector<Turns> run() {
    named();
    lists();
    caps();
    moves();
    return std::move(best_);
  }

 private:
  /// No order is shorter: a position begins after the first forwards before it, and has its work.
  [[nodiscard]] double least_s() const {
    const auto count = static_cast<double>(pipeline_.micro_batches);
    double least = 0;
    double fill = 0;
    for (const std::vector<PartSeconds>& position : pipeline_.seconds.parts) {
      double work = 0;
      for (const PartSeconds& part : position) work += part.forward + part.data + part.weight;
      least = std::max(least, fill + count * work);
      fill += position.front().forward + pipeline_.seconds.hop_s;
    }
    return least;
  }
  [[nodiscard]] bool done() const {
    return played_ > kPlayedTurns || best_s_ <= least_s_ * (1 + kRounding);
  }
  [[nodiscard]] std::int64_t stages() const { return std::ssize(pipeline_.seconds.parts); }

  [[nodiscard]] double played_s(std::span<const Turns> turns) {
    for (const Turns& list : turns) played_ += std::ssize(list);
    return makespan_s(player_.play(turns, pipeline_.placement, pipeline_.seconds));
  }

  /// Whether every part has its turn; caps may stop a list early.
  [[nodiscard]] bool complete(std::span<const Turns> turns) const {
    const std::int64_t each = 3 * pipeline_.placement.chunks() * pipeline_.micro_batches;
    return std::ranges::all_of(turns, [&](const Turns& list) { return std::ssize(list) == each; });
  }

  void offer(std::vector<Turns>&& turns, double seconds) {
    if (seconds >= best_s_) return;
    best_s_ = seconds;
    best_ = std::move(turns);
  }

  /// Schedules with a name and this placement, as far as they hold no more.
  void named() {
    const std::int64_t chunks = pipeline_.placement.chunks();
    for (const auto& [kind, name] : kScheduleNames) {
      const ScheduleTraits& traits = traits_of(kind);
      const bool placed = chunks == 1 || traits.placement == PlacementKind::kV;
      if (traits.found || !traits.runs || !placed) continue;
      if (chunks < traits.least_chunks || chunks > traits.most_chunks) continue;
      if (pipeline_.micro_batches < traits.least_rounds * stages()) continue;
      if (traits.rounds && pipeline_.micro_batches % stages() != 0) continue;
      std::vector<Turns> turns;
      for (const Turns& list :
           all_turns({.kind = kind, .chunks = chunks}, stages(), pipeline_.micro_batches)) {
        turns.push_back(cut(list));
      }
      const auto fits = [&](const Turns& list) {
        return stepwright::most_held(list) <= most_held_;
      };
      if (!std::ranges::all_of(turns, fits)) continue;
      const double seconds = played_s(turns);
      offer(std::move(turns), seconds);
    }
  }

  /// Caps that fall by `slope` from position to position.
  [[nodiscard]] std::vector<std::int64_t> sloping(std::int64_t slope) const {
    const std::int64_t chunks = pipeline_.placement.chunks();
    std::vector<std::int64_t> caps;
    for (std::int64_t i = 0; i < stages(); ++i) {
      caps.push_back(
          std::clamp(most_held_ - slope * i, std::min(most_held_, chunks + 1), most_held_));
    }
    return caps;
  }

  // NOLINTNEXTLINE(readability-function-size): one loop per choice
  void lists() {
    const bool several = pipeline_.placement.chunks() > 1;
    for (const std::int64_t slope : {0, 1, 2}) {
      for (const double patience : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        for (const bool forward_first : {false, true}) {
          for (const bool deep_first : {true, false}) {
            if (!deep_first && !several) continue;
            try_policy({sloping(slope), patience, forward_first, deep_first});
          }
        }
      }
    }
  }

  /// Whether its list is shorter than those of all policies before.
  bool try_policy(const ListPolicy& policy) {
    if (done() && !best_.empty()) return false;
    std::vector<Turns> turns = listed_turns(pipeline_, policy);
    const double seconds = complete(turns) ? played_s(turns) : kUnreached;
    offer(std::move(turns), seconds);
    if (seconds >= best_list_s_) return false;
    best_list_s_ = seconds;
    policy_ = policy;
    return true;
  }

  /// The best list's caps, one position at a time.
  void caps() {
    if (policy_.caps.empty()) return;
    for (bool better = true; better && !done() && played_ < kPlayedTurns / 2;) {
      better = false;
      for (std::int64_t i = 0; i < stages(); ++i) {
        for (const std::int64_t step : {-1, 1}) {
          ListPolicy other = policy_;
          std::int64_t& cap = other.caps[static_cast<std::size_t>(i)];
          cap += step;
          if (cap < pipeline_.placement.chunks() || cap > most_held_) continue;
          better = try_policy(other) || better;
        }
      }
    }
  }

  /// Whether every part of a position still follows what it needs, and no more are held.
  [[nodiscard]] bool legal(const Turns& turns, std::size_t from, std::size_t until) const {
    for (std::size_t i = from; i < until; ++i) {
      for (std::size_t k = i + 1; k <= until; ++k) {
        const Part& a = turns[i].part;
        const Part& b = turns[k].part;
        if (a.chunk == b.chunk && a.micro_batch == b.micro_batch && b.direction < a.direction) {
          return false;
        }
      }
    }
    return stepwright::most_held(turns) <= most_held_;
  }

  /// Moves single turns, by chance from a fixed seed.
  void moves() {
    std::mt19937 random(1);
    const auto below = [&](std::int64_t count) {
      return static_cast<std::int64_t>(random()) % count;
    };
    while (!done()) {
      const auto position = static_cast<std::size_t>(below(stages()));
      const auto count = std::ssize(best_[position]);
      const std::int64_t from = below(count);
      const std::int64_t to = from + below(2 * kFarthest + 1) - kFarthest;
      if (to == from || to < 0 || to >= count) {
        ++played_;
        continue;
      }
      move(position, from, to);
    }
  }

  void move(std::size_t position, std::int64_t from, std::int64_t to) {
    const Turns before = best_[position];
    Turns& turns = best_[position];
    const auto begin = turns.begin() + std::min(from, to);
    const auto end = turns.begin() + std::max(from, to) + 1;
    std::rotate(begin, from < to ? begin + 1 : end - 1, end);
    double seconds = kUnreached;
    if (legal(turns, static_cast<std::size_t>(std::min(from, to)),
              static_cast<std::size_t>(std::max(from, to)))) {
      try {
        seconds = played_s(best_);
      } catch (const Error&) {
        seconds = kUnreached;  // It waits for itself.
      }
    }
    ++played_;
    if (seconds > best_s_) {
      turns = before;
    } else {
      best_s_ = seconds;
    }
  }

  const UnevenPipeline& pipeline_;
  double least_s_;
  std::int64_t most_held_;
  TurnPlayer player_;
  std::int64_t played_ = 0;
  std::vector<Turns> best_;
  double best_s_ = kUnreached;
  ListPolicy policy_;
  double best_list_s_ = kUnreached;
};

}  // namespace

std::vector<Turns> found_turns(const UnevenPipeline& pipeline) { return Finder(pipeline).run(); }

std::vector<double> held_activations(std::span<const Turns> turns, std::int64_t chunks) {
  std::vector<double> held;
  for (const Turns& list : turns) {
    held.push_back(static_cast<double>(most_held(cut(list))) / static_cast<double>(chunks));
  }
  return held;
}

}  // namespace stepwright
