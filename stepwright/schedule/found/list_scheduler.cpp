#include "stepwright/schedule/found/list_scheduler.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

namespace stepwright {
namespace {

constexpr double kUnready = std::numeric_limits<double>::infinity();

/// One position's place in its lists of parts, each in the order of micro-batches.
struct Progress {
  std::vector<std::int64_t> forward, backward;    ///< Done, by chunk; data gradients too.
  std::vector<std::deque<std::int32_t>> weights;  ///< That wait, by chunk.
  double free_s = 0;
  Keeping keeping;
};

/// A part that a position may begin.
struct Choice {
  Direction direction{};
  std::int64_t chunk = -1;
  double ready_s = kUnready;
};

/// Makes the lists of all positions in the order of time: whoever can begin first begins.
class ListScheduler {
 public:
  ListScheduler(const UnevenPipeline& pipeline, const ListPolicy& policy)
      : pipeline_(pipeline), policy_(policy), placement_(pipeline.placement) {
    const auto chunks = static_cast<std::size_t>(placement_.chunks());
    const std::vector<std::int64_t> none(chunks, 0);
    for (std::size_t i = 0; i < positions(); ++i) {
      at_.push_back({.forward = none,
                     .backward = none,
                     .weights = std::vector<std::deque<std::int32_t>>(chunks),
                     .keeping = Keeping(pipeline, i)});
    }
    orders_.resize(positions());
    next_.resize(positions());
    const auto cells = static_cast<std::size_t>(placement_.model_chunks() * count());
    forward_ends_.assign(cells, kUnready);
    backward_ends_.assign(cells, kUnready);
    for (std::size_t i = 0; i < positions(); ++i) next_[i] = choose(i);
  }

  std::vector<Order> run() {
    while (true) {
      const auto first = std::ranges::min_element(next_, {}, &Choice::ready_s);
      if (first->ready_s == kUnready) return std::move(orders_);
      begin(static_cast<std::size_t>(first - next_.begin()), *first);
    }
  }

 private:
  [[nodiscard]] std::size_t positions() const { return pipeline_.seconds.parts.size(); }
  [[nodiscard]] std::int64_t count() const { return pipeline_.micro_batches; }
  [[nodiscard]] std::size_t cell(const Place& place, std::int64_t micro_batch) const {
    return static_cast<std::size_t>(placement_.model_chunk(place) * count() + micro_batch);
  }

  /// When what `own` waits for in another chunk has arrived.
  [[nodiscard]] double arrival_s(const std::vector<double>& ends, const Place& own,
                                 const Place& other, std::int64_t micro_batch) const {
    const double hop_s = own.position == other.position ? 0 : pipeline_.seconds.hop_s;
    return ends[cell(other, micro_batch)] + hop_s;
  }

  [[nodiscard]] Choice forward(std::size_t position, std::int64_t chunk) const {
    const Progress& at = at_[position];
    const Place own{static_cast<std::int64_t>(position), chunk};
    const std::int64_t next = at.forward[static_cast<std::size_t>(chunk)];
    // Room is left for those that come back: without it they would wait for each other.
    double more = 0;
    for (auto c = static_cast<std::size_t>(chunk); c < at.forward.size(); ++c) {
      more += pipeline_.kept[position][c].forward;
    }
    const double spared = pipeline_.room[position] - policy_.caps[position];
    if (next == count() || !at.keeping.has_room(more + spared)) return {};
    const auto before = placement_.previous(own);
    const double ready = before ? arrival_s(forward_ends_, own, *before, next) : 0;
    return {Direction::kForward, chunk, std::max(at.free_s, ready)};
  }

  /// A whole backward or data gradients.
  [[nodiscard]] Choice backward(std::size_t position, std::int64_t chunk) const {
    const Progress& at = at_[position];
    const Place own{static_cast<std::int64_t>(position), chunk};
    const std::int64_t next = at.backward[static_cast<std::size_t>(chunk)];
    if (next == at.forward[static_cast<std::size_t>(chunk)]) return {};
    const auto behind = placement_.next(own);
    const double ready = behind ? arrival_s(backward_ends_, own, *behind, next) : 0;
    const CutEnds& cut = policy_.cuts[position][static_cast<std::size_t>(chunk)];
    const KeptSize& kept = pipeline_.kept[position][static_cast<std::size_t>(chunk)];
    const bool whole = (next >= cut.first && next < count() - cut.last) ||
                       !at.keeping.has_room(kept.weight - kept.forward);
    return {whole ? Direction::kBackward : Direction::kDataGradient, chunk,
            std::max(at.free_s, ready)};
  }

  /// The oldest weight gradient of the last chunk that has one waiting.
  [[nodiscard]] Choice weight(std::size_t position) const {
    const Progress& at = at_[position];
    for (std::int64_t chunk = placement_.chunks(); chunk-- > 0;) {
      const auto c = static_cast<std::size_t>(chunk);
      if (!at.weights[c].empty()) return {Direction::kWeightGradient, chunk, at.free_s};
    }
    return {};
  }

  /// Whether `a` goes before `b` where both are ready.
  [[nodiscard]] bool preferred(const Choice& a, const Choice& b) const {
    const bool forward = a.direction == Direction::kForward;
    if (forward != (b.direction == Direction::kForward)) return forward == policy_.forward_first;
    const bool later = forward ? a.chunk > b.chunk : a.chunk < b.chunk;
    return later == policy_.deep_first;
  }

  [[nodiscard]] Choice choose(std::size_t position) const {
    Choice best;
    for (std::int64_t chunk = 0; chunk < placement_.chunks(); ++chunk) {
      for (const Choice& one : {forward(position, chunk), backward(position, chunk)}) {
        if (one.ready_s == kUnready) continue;
        const bool first = one.ready_s < best.ready_s;
        if (first || (one.ready_s == best.ready_s && preferred(one, best))) best = one;
      }
    }
    const Choice filler = weight(position);
    if (filler.chunk < 0) return best;
    const double weight_s = seconds(position, filler);
    if (best.ready_s > filler.ready_s &&
        best.ready_s >= filler.ready_s + (1 - policy_.patience) * weight_s) {
      return filler;
    }
    return best;
  }

  [[nodiscard]] double seconds(std::size_t position, const Choice& choice) const {
    return pipeline_.seconds.parts[position][static_cast<std::size_t>(choice.chunk)].of(
        choice.direction);
  }

  void begin(std::size_t position, const Choice& choice) {
    Progress& at = at_[position];
    const auto c = static_cast<std::size_t>(choice.chunk);
    const Place own{static_cast<std::int64_t>(position), choice.chunk};
    at.free_s = choice.ready_s + seconds(position, choice);
    std::optional<Place> receiver;
    std::int64_t micro_batch = 0;
    if (choice.direction == Direction::kForward) {
      micro_batch = at.forward[c]++;
      forward_ends_[cell(own, micro_batch)] = at.free_s;
      receiver = placement_.next(own);
    } else if (choice.direction == Direction::kWeightGradient) {
      micro_batch = at.weights[c].front();
      at.weights[c].pop_front();
    } else {
      micro_batch = at.backward[c]++;
      backward_ends_[cell(own, micro_batch)] = at.free_s;
      receiver = placement_.previous(own);
      if (choice.direction == Direction::kDataGradient) {
        at.weights[c].push_back(static_cast<std::int32_t>(micro_batch));
      }
    }
    orders_[position].push_back(part_of(choice.direction, choice.chunk, micro_batch));
    at.keeping.run(orders_[position].back());
    next_[position] = choose(position);
    if (!receiver) return;
    const auto other = static_cast<std::size_t>(receiver->position);
    if (other != position) next_[other] = choose(other);
  }

  const UnevenPipeline& pipeline_;
  const ListPolicy& policy_;
  const Placement& placement_;
  std::vector<Progress> at_;
  std::vector<Choice> next_;  ///< By position: what it would begin.
  std::vector<double> forward_ends_;
  std::vector<double> backward_ends_;
  std::vector<Order> orders_;
};

}  // namespace

std::vector<Order> listed_orders(const UnevenPipeline& pipeline, const ListPolicy& policy) {
  return ListScheduler(pipeline, policy).run();
}

}  // namespace stepwright
