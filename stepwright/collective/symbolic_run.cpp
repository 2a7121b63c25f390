#include "stepwright/collective/symbolic_run.h"

#include <fmt/format.h>

#include <vector>

#include "stepwright/collective/symbolic_sum.h"

namespace stepwright::collective {
namespace {

/// State of the run: the steps of each rank, and symbolic contents of memory.
class SymbolicRun {
 public:
  explicit SymbolicRun(const CollectiveSchedule& schedule)
      : schedule_(schedule), promise_(schedule), ranks_(schedule.ranks.size()) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].done.resize(schedule.ranks[r].channels.size());
      ranks_[r].waited.resize(schedule.ranks[r].channels.size());
      ranks_[r].output.resize(static_cast<std::size_t>(schedule.output_pieces));
      ranks_[r].scratch.resize(static_cast<std::size_t>(schedule.scratch_pieces));
    }
  }

  std::optional<CollectiveScheduleDefect> run() {
    for (std::int32_t r = 0; r < std::ssize(ranks_); ++r) wake(r);
    while (!awake_.empty() && !defect_) {
      const std::int32_t rank = awake_.back();
      awake_.pop_back();
      ranks_[static_cast<std::size_t>(rank)].awake = false;
      while (!defect_ && advance(rank)) {
      }
    }
    if (!defect_) find_stuck();
    if (!defect_) find_wrong();
    return defect_;
  }

 private:
  struct Rank {
    std::vector<std::int32_t> done;   ///< For each channel, the number of completed steps.
    std::vector<std::size_t> waited;  ///< For each channel, the number of waits that are over.
    std::vector<SymbolicSum> output;
    std::vector<SymbolicSum> scratch;
    bool awake = false;
  };

  [[nodiscard]] const RankStepSequence& channel(std::int32_t rank, std::size_t c) const {
    return schedule_.ranks[static_cast<std::size_t>(rank)].channels[c];
  }
  Rank& at(std::int32_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void wake(std::int32_t rank) {
    if (at(rank).awake) return;
    at(rank).awake = true;
    awake_.push_back(rank);
  }

  void fail(CollectiveScheduleDefectKind kind, std::int32_t rank, std::size_t c, std::string text) {
    if (defect_) return;
    defect_ = CollectiveScheduleDefect{
        kind, rank, {static_cast<std::int32_t>(c), at(rank).done[c]}, std::move(text)};
  }

  /// Returns the next step of a channel if it may start; else null.
  const CollectiveScheduleStep* head(std::int32_t rank, std::size_t c) {
    Rank& own = at(rank);
    const RankStepSequence& from = channel(rank, c);
    if (own.done[c] == std::ssize(from.steps)) return nullptr;
    for (std::size_t& w = own.waited[c]; w < from.waits.size(); ++w) {
      if (from.waits[w].step > own.done[c]) break;
      const CollectiveStepReference on = from.waits[w].on;
      if (own.done[static_cast<std::size_t>(on.channel)] <= on.step) return nullptr;
    }
    return &from.steps[static_cast<std::size_t>(own.done[c])];
  }

  /// Runs every step of a rank that can run now, in one pass over its channels; returns whether one
  /// ran.
  bool advance(std::int32_t rank) {
    bool progress = false;
    for (std::size_t c = 0; c < at(rank).done.size() && !defect_; ++c) {
      const CollectiveScheduleStep* step = head(rank, c);
      if (step == nullptr) continue;
      if (!sends(*step) && !receives(*step)) {
        apply(rank, c, *step, nullptr);
        ++at(rank).done[c];
        progress = true;
      } else {
        progress |= meet(rank, c, *step);
      }
    }
    return progress;
  }

  /// Exchanges the next message of a channel if the other end has reached it; returns whether it
  /// did.
  bool meet(std::int32_t rank, std::size_t c, const CollectiveScheduleStep& step) {
    const std::uint8_t lane = channel(rank, c).lane;
    for (std::size_t o = 0; o < at(step.peer).done.size(); ++o) {
      if (channel(step.peer, o).lane != lane) continue;
      const CollectiveScheduleStep* other = head(step.peer, o);
      if (other == nullptr || other->peer != rank || other == &step) continue;
      if (sends(step) ? !receives(*other) : !sends(*other)) continue;
      if (sends(step)) {
        deliver({rank, c, step}, {step.peer, o, *other});
      } else {
        deliver({step.peer, o, *other}, {rank, c, step});
      }
      ++at(rank).done[c];
      ++at(step.peer).done[o];
      wake(step.peer);
      return true;
    }
    return false;
  }

  struct End {
    std::int32_t rank;
    std::size_t channel;
    const CollectiveScheduleStep& step;
  };

  void deliver(const End& from, const End& to) {
    if (from.step.pieces != to.step.pieces) {
      fail(CollectiveScheduleDefectKind::kMismatch, from.rank, from.channel,
           fmt::format("sends {} pieces, rank {} takes {}", from.step.pieces, to.rank,
                       to.step.pieces));
      return;
    }
    apply(to.rank, to.channel, to.step, &from);
  }

  [[nodiscard]] SymbolicSum value(std::int32_t rank, PieceRunStart place, std::int32_t i) const {
    const std::size_t piece = place.piece + static_cast<std::size_t>(i);
    const Rank& own = ranks_[static_cast<std::size_t>(rank)];
    if (place.buffer == RankBufferKind::kInput) {
      return promise_.initial_symbolic_input(rank, static_cast<std::int32_t>(piece));
    }
    return place.buffer == RankBufferKind::kOutput ? own.output[piece] : own.scratch[piece];
  }

  /// Applies the writes of a step of `rank`.
  void apply(std::int32_t rank, std::size_t c, const CollectiveScheduleStep& step,
             const End* from) {
    for (std::int32_t i = 0; i < step.pieces; ++i) {
      const std::size_t piece = step.target.piece + static_cast<std::size_t>(i);
      Rank& own = at(rank);
      SymbolicSum& target =
          step.target.buffer == RankBufferKind::kOutput ? own.output[piece] : own.scratch[piece];
      SymbolicSum result =
          from != nullptr ? value(from->rank, from->step.source, i) : value(rank, step.source, i);
      if (step.kind == CollectiveStepOperation::kReceiveReduce ||
          step.kind == CollectiveStepOperation::kReduce) {
        const SymbolicSum added =
            step.kind == CollectiveStepOperation::kReduce ? target : value(rank, step.source, i);
        const auto sum = promise_.symbolic_sum_of(result, added);
        if (!sum) return fail(CollectiveScheduleDefectKind::kTwice, rank, c, fault(result, added));
        result = *sum;
      }
      target = result;
    }
  }

  static std::string fault(const SymbolicSum& a, const SymbolicSum& b) {
    if (a.place != b.place) return fmt::format("adds place {} to place {}", a.place, b.place);
    return fmt::format("adds contributions to place {} twice", a.place);
  }

  void find_stuck() {
    for (std::int32_t r = 0; r < std::ssize(ranks_); ++r) {
      for (std::size_t c = 0; c < at(r).done.size(); ++c) {
        const RankStepSequence& stuck = channel(r, c);
        if (at(r).done[c] == std::ssize(stuck.steps)) continue;
        const CollectiveScheduleStep& step = stuck.steps[static_cast<std::size_t>(at(r).done[c])];
        return fail(CollectiveScheduleDefectKind::kDeadlock, r, c,
                    step.peer < 0 ? "waits for ever"
                                  : fmt::format("waits for ever for rank {}", step.peer));
      }
    }
  }

  void find_wrong() {
    for (std::int32_t r = 0; r < std::ssize(ranks_); ++r) {
      for (std::int32_t piece = 0; piece < schedule_.output_pieces; ++piece) {
        const auto required_symbolic_output = promise_.required_symbolic_output(r, piece);
        if (!required_symbolic_output ||
            at(r).output[static_cast<std::size_t>(piece)] == *required_symbolic_output)
          continue;
        defect_ = CollectiveScheduleDefect{
            CollectiveScheduleDefectKind::kWrongResult,
            r,
            {},
            fmt::format("piece {} of its output is not what it should be", piece)};
        return;
      }
    }
  }

  const CollectiveSchedule& schedule_;
  CollectiveSymbolicContract promise_;
  std::vector<Rank> ranks_;
  std::vector<std::int32_t> awake_;
  std::optional<CollectiveScheduleDefect> defect_;
};

}  // namespace

std::optional<CollectiveScheduleDefect> run_schedule_symbolically(
    const CollectiveSchedule& schedule) {
  return SymbolicRun(schedule).run();
}

}  // namespace stepwright::collective
