#include "stepwright/schedule/found/list_scheduler.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stepwright::schedule {
namespace {

constexpr double kUnready = std::numeric_limits<double>::infinity();

/// The next part of a chunk in one direction, and the end time of the part that it waits for.
struct Row {
  std::int64_t next = 0;
  /// End times of the parts that the chunk waits for, by micro-batch; null: it waits for nothing.
  const double* awaited_s = nullptr;
  double* ends_s = nullptr;  ///< End times of the chunk's own parts, by micro-batch.
  double hop_s = 0;
  double behind_s = 0;  ///< Least seconds from the part's end to the end of the step.
  int receiver = -1;    ///< Position that receives the part's result and may start then; -1: none.

  [[nodiscard]] double ready_s() const {
    const auto at = static_cast<std::size_t>(next);
    return awaited_s == nullptr ? 0 : awaited_s[at] + hop_s;
  }
};

/// A chunk of a position, and its next part in each direction.
struct ChunkProgress {
  Row forward, backward;              ///< Next forward, and next backward or data gradient.
  std::vector<std::int32_t> weights;  ///< Micro-batches whose backward was split.
  std::size_t weights_done = 0;
  ModelChunkWorkSeconds seconds;
  ModelChunkKeptMemory kept;
  /// Room needed for a forward and for the later forwards of its micro-batch on this position.
  double awaited_room = 0;
  SplitBackwardCounts cut;
};

/// A part that a position may start next, and its earliest start time.
struct Choice {
  Direction direction{};
  int chunk = -1;
  double ready_s = kUnready;
};

struct Progress {
  std::vector<ChunkProgress> chunks;
  double free_s = 0;
  double left_s = 0;  ///< Least seconds of the position's remaining work.
  double spared = 0;  ///< Bytes of the position's room above its cap.
  KeptMemoryTracker keeping;
  Order order = {};
};

/// Schedules the parts of all positions in order of time: the position that can start first does.
class ListScheduler {
 public:
  ListScheduler(const UnevenPipeline& pipeline, const ListSchedulerPolicy& policy)
      : policy_(policy),
        count_(pipeline.micro_batches),
        ends_s_(static_cast<std::size_t>(2 * pipeline.placement.model_chunk_count() * count_),
                kUnready) {
    for (std::size_t i = 0; i < pipeline.seconds.parts.size(); ++i) add_position(pipeline, i);
    add_rows(pipeline);
    for (std::size_t i = 0; i < at_.size(); ++i) choose(i);
  }

  ListedOrders run(double limit_s) {
    const double above_s = limit_s * (1 + kSumRoundingTolerance);
    ListedOrders list;
    while (true) {
      const auto first = std::ranges::min_element(ready_s_);
      if (*first == kUnready) break;
      if (begin(static_cast<std::size_t>(first - ready_s_.begin())) > above_s) return list;
    }
    list.complete = std::ranges::all_of(at_, [&](const Progress& at) { return is_done(at); });
    for (Progress& at : at_) {
      list.seconds = std::max(list.seconds, at.free_s);
      list.orders.push_back(std::move(at.order));
    }
    return list;
  }

 private:
  void add_position(const UnevenPipeline& pipeline, std::size_t position) {
    Progress at{.chunks = {}, .keeping = KeptMemoryTracker(pipeline, position)};
    at.spared = pipeline.room[position] - policy_.caps[position];
    const auto& parts = pipeline.seconds.parts[position];
    for (std::size_t i = 0; i < parts.size(); ++i) {
      at.chunks.push_back({.forward = {},
                           .backward = {},
                           .weights = {},
                           .seconds = parts[i],
                           .kept = pipeline.kept[position][i],
                           .cut = policy_.cuts[position][i]});
      at.left_s += static_cast<double>(count_) * (parts[i].forward + least_backward_s(parts[i]));
    }
    // Keeps room for micro-batches that return to later chunks; without it, positions would wait
    // for each other.
    double more = 0;
    for (auto chunk = at.chunks.rbegin(); chunk != at.chunks.rend(); ++chunk) {
      more += chunk->kept.forward;
      chunk->awaited_room = more + at.spared;
    }
    at.order.reserve(3 * at.chunks.size() * static_cast<std::size_t>(count_));
    at_.push_back(std::move(at));
    ready_s_.push_back(kUnready);
    next_.emplace_back();
  }

  void add_rows(const UnevenPipeline& pipeline) {
    const std::vector<ModelChunkRemainingTime> routes = model_chunk_remaining_times(pipeline);
    const std::int64_t chunks = std::ssize(routes);
    const auto ends = [&](std::int64_t row) { return ends_s_.data() + row * count_; };
    const auto position = [&](std::int64_t chunk) {
      return static_cast<int>(routes[static_cast<std::size_t>(chunk)].holder.position);
    };
    for (std::int64_t i = 0; i < chunks; ++i) {
      const ModelChunkRemainingTime& route = routes[static_cast<std::size_t>(i)];
      ChunkProgress& own = at_[static_cast<std::size_t>(route.holder.position)]
                               .chunks[static_cast<std::size_t>(route.holder.chunk)];
      const bool last = i + 1 == chunks;
      own.forward = {.awaited_s = i == 0 ? nullptr : ends(i - 1),
                     .ends_s = ends(i),
                     .hop_s = route.hop_s,
                     .behind_s = route.behind_forward_s,
                     .receiver = last ? -1 : position(i + 1)};
      own.backward = {.awaited_s = last ? nullptr : ends(chunks + i + 1),
                      .ends_s = ends(chunks + i),
                      .hop_s = last ? 0 : routes[static_cast<std::size_t>(i + 1)].hop_s,
                      .behind_s = route.behind_backward_s,
                      .receiver = i == 0 ? -1 : position(i - 1)};
    }
  }

  static double least_backward_s(const ModelChunkWorkSeconds& part) {
    return std::min(part.backward, part.data + part.weight);
  }

  [[nodiscard]] bool is_done(const Progress& at) const {
    return std::ranges::all_of(at.chunks, [&](const ChunkProgress& chunk) {
      return chunk.backward.next == count_ && chunk.weights_done == chunk.weights.size();
    });
  }

  [[nodiscard]] bool can_go_forward(const Progress& at, const ChunkProgress& chunk) const {
    return chunk.forward.next < count_ && at.keeping.has_free_activation_memory(chunk.awaited_room);
  }

  /// True if the next backward of a chunk is not split.
  [[nodiscard]] bool is_whole(const Progress& at, const ChunkProgress& chunk) const {
    const std::int64_t next = chunk.backward.next;
    return (next >= chunk.cut.first && next < count_ - chunk.cut.last) ||
           !at.keeping.has_free_activation_memory(chunk.kept.weight - chunk.kept.forward);
  }

  /// True if the policy prefers `a` to `b` when both are ready.
  [[nodiscard]] bool preferred(const Choice& a, const Choice& b) const {
    const bool forward = a.direction == Direction::kForward;
    if (forward != (b.direction == Direction::kForward)) return forward == policy_.forward_first;
    const bool later = forward ? a.chunk > b.chunk : a.chunk < b.chunk;
    return later == policy_.deep_first;
  }

  void choose(std::size_t position) {
    const Progress& at = at_[position];
    Choice best;
    const auto offer = [&](Direction direction, int chunk, double ready_s) {
      const Choice one{direction, chunk, std::max(at.free_s, ready_s)};
      if (one.ready_s == kUnready || one.ready_s > best.ready_s) return;
      if (one.ready_s < best.ready_s || preferred(one, best)) best = one;
    };
    int filler = -1;  // Last chunk with a postponed weight gradient; -1: none.
    for (std::size_t i = 0; i < at.chunks.size(); ++i) {
      const ChunkProgress& chunk = at.chunks[i];
      const auto own = static_cast<int>(i);
      if (can_go_forward(at, chunk)) offer(Direction::kForward, own, chunk.forward.ready_s());
      if (chunk.backward.next < chunk.forward.next) {
        offer(is_whole(at, chunk) ? Direction::kBackward : Direction::kDataGradient, own,
              chunk.backward.ready_s());
      }
      if (chunk.weights_done < chunk.weights.size()) filler = own;
    }
    if (filler >= 0) {
      const double weight_s = at.chunks[static_cast<std::size_t>(filler)].seconds.weight;
      const double until_s = at.free_s + (1 - policy_.patience) * weight_s;
      if (best.ready_s > at.free_s && best.ready_s >= until_s) {
        best = {Direction::kWeightGradient, filler, at.free_s};
      }
    }
    next_[position] = best;
    ready_s_[position] = best.ready_s;
  }

  /// Starts the next part of a position; returns a lower bound of the makespan after it.
  double begin(std::size_t position) {
    Progress& at = at_[position];
    const Choice choice = next_[position];
    ChunkProgress& chunk = at.chunks[static_cast<std::size_t>(choice.chunk)];
    at.free_s = choice.ready_s + chunk.seconds.of(choice.direction);
    double behind_s = 0;
    int receiver = -1;
    std::int64_t micro_batch = 0;
    if (choice.direction == Direction::kWeightGradient) {
      micro_batch = chunk.weights[chunk.weights_done++];
      at.left_s -= chunk.seconds.weight;
    } else {
      Row& row = choice.direction == Direction::kForward ? chunk.forward : chunk.backward;
      micro_batch = row.next++;
      row.ends_s[static_cast<std::size_t>(micro_batch)] = at.free_s;
      behind_s = row.behind_s;
      receiver = row.receiver;
      at.left_s -= choice.direction == Direction::kForward ? chunk.seconds.forward
                                                           : least_backward_s(chunk.seconds);
    }
    if (choice.direction == Direction::kDataGradient) {
      chunk.weights.push_back(static_cast<std::int32_t>(micro_batch));
      at.left_s += chunk.seconds.weight;
    }
    at.order.push_back(make_schedule_work_item(choice.direction, choice.chunk, micro_batch));
    at.keeping.run(at.order.back());
    choose(position);
    if (receiver >= 0 && receiver != static_cast<int>(position)) {
      choose(static_cast<std::size_t>(receiver));
    }
    return at.free_s + std::max(at.left_s, behind_s);
  }

  const ListSchedulerPolicy& policy_;
  std::int64_t count_;
  /// End times of forwards, then of backwards, by chunk of the model.
  std::vector<double> ends_s_;
  std::vector<Progress> at_;
  std::vector<Choice> next_;     ///< The part that each position would start next.
  std::vector<double> ready_s_;  ///< Time at which each position could start `next_`.
};

}  // namespace

ListedOrders schedule_greedily_by_time(const UnevenPipeline& pipeline,
                                       const ListSchedulerPolicy& policy, double limit_s) {
  return ListScheduler(pipeline, policy).run(limit_s);
}

}  // namespace stepwright::schedule
