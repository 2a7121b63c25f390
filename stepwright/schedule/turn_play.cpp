#include "stepwright/schedule/turn_play.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

constexpr double kNotYet = -1;

std::int64_t micro_batches_of(std::span<const Turns> turns) {
  std::int64_t count = 0;
  for (const Turns& list : turns) {
    for (const Turn& turn : list) {
      count = std::max<std::int64_t>(count, turn.part.micro_batch + 1);
      if (turn.beside) count = std::max<std::int64_t>(count, turn.beside->micro_batch + 1);
    }
  }
  return count;
}

/// When the parameters of a turn's forward are there; they stay.
double gathered_s(const std::vector<ChunkMessages>& messages, const Turn& turn) {
  double ready_s = 0;
  for (const Part* part : {&turn.part, turn.beside ? &*turn.beside : nullptr}) {
    if (part == nullptr || part->direction != Direction::kForward) continue;
    if (part->micro_batch > 0) continue;
    double sum = 0;
    for (std::int64_t i = 0; i <= part->chunk; ++i) {
      sum += messages[static_cast<std::size_t>(i)].before_s;
    }
    ready_s = std::max(ready_s, sum);
  }
  return ready_s;
}

/// Whether gradients of its chunk may leave as soon as it runs.
bool releases_gradients(Direction direction) {
  return direction == Direction::kBackward || direction == Direction::kDataGradient;
}

/// When a position has sent what follows its turns: of each chunk not before its last backward
/// begins, one after the other.
double sent_s(const std::vector<double>& ends, const Turns& turns, const TurnSeconds& seconds,
              std::size_t position) {
  if (seconds.messages.empty()) return 0;
  const std::vector<ChunkMessages>& messages = seconds.messages[position];
  std::vector<std::pair<double, std::size_t>> begins;  // of chunks, the last first
  std::vector<bool> seen(messages.size(), false);
  for (std::size_t i = turns.size(); i-- > 0 && begins.size() < messages.size();) {
    for (const Part* part : {&turns[i].part, turns[i].beside ? &*turns[i].beside : nullptr}) {
      if (part == nullptr || !releases_gradients(part->direction)) continue;
      const auto chunk = static_cast<std::size_t>(part->chunk);
      if (seen[chunk]) continue;
      seen[chunk] = true;
      begins.emplace_back(ends[i] - seconds.of(position, turns[i]), chunk);
    }
  }
  double sent_s = 0;
  for (auto chunk = begins.rbegin(); chunk != begins.rend(); ++chunk) {
    sent_s = std::max(sent_s, chunk->first) + messages[chunk->second].after_s;
  }
  return sent_s;
}

}  // namespace

double PartSeconds::of(Direction direction) const {
  switch (direction) {
    case Direction::kForward: return forward;
    case Direction::kBackward: return backward;
    case Direction::kDataGradient: return data;
    case Direction::kWeightGradient: return weight;
    case Direction::kUpdate: break;
  }
  return 0;
}

double TurnSeconds::of(std::size_t position, const Turn& turn) const {
  const auto seconds_of = [&](const Part& part) -> const PartSeconds& {
    return parts[position][static_cast<std::size_t>(part.chunk)];
  };
  const double own_s = seconds_of(turn.part).of(turn.part.direction);
  if (!turn.beside) return own_s;
  const bool first = turn.part.direction == Direction::kForward;
  const Part& forward = first ? turn.part : *turn.beside;
  const Part& other = first ? *turn.beside : turn.part;
  const std::vector<double>& beside = seconds_of(forward).beside.of(other.direction);
  if (beside.empty()) return own_s + seconds_of(*turn.beside).of(turn.beside->direction);
  return beside[static_cast<std::size_t>(other.chunk)];
}

/// The cell that keeps the end of a forward, or of a backward or data gradient.
std::size_t TurnPlayer::cell(Direction direction, std::int64_t model_chunk,
                             std::int64_t micro_batch) const {
  const std::int64_t passed = 2 * micro_batch + (direction == Direction::kForward ? 0 : 1);
  return static_cast<std::size_t>(passed * chunks_ + model_chunk);
}

/// When what a part needs has arrived; negative: not known yet.
double TurnPlayer::ready_s(const Part& part, std::int64_t position) const {
  const Place own{position, part.chunk};
  const std::int64_t chunk = placement_.model_chunk(own);
  if (part.direction == Direction::kWeightGradient) {
    return known_ends_[cell(Direction::kBackward, chunk, part.micro_batch)];
  }
  const bool forward = part.direction == Direction::kForward;
  const auto before = forward ? placement_.previous(own) : placement_.next(own);
  if (!before) {
    return forward ? 0 : known_ends_[cell(Direction::kForward, chunk, part.micro_batch)];
  }
  const double ended =
      known_ends_[cell(part.direction, placement_.model_chunk(*before), part.micro_batch)];
  if (ended < 0) return kNotYet;
  return before->position == position ? ended : ended + hop_s_;
}

/// Plays the next turn of a position if all that it needs is known.
bool TurnPlayer::advance(std::size_t position, const Turns& turns, const TurnSeconds& seconds) {
  std::vector<double>& ends = ends_[position];
  if (ends.size() == turns.size()) return false;
  const Turn& turn = turns[ends.size()];
  const auto here = static_cast<std::int64_t>(position);
  double start = ends.empty() ? 0 : ends.back();
  for (const Part* part : {&turn.part, turn.beside ? &*turn.beside : nullptr}) {
    if (part == nullptr) continue;
    const double ready = ready_s(*part, here);
    if (ready < 0) return false;
    start = std::max(start, ready);
  }
  double end = start + seconds.of(position, turn);
  if (!seconds.messages.empty()) end = std::max(end, gathered_s(seconds.messages[position], turn));
  for (const Part* part : {&turn.part, turn.beside ? &*turn.beside : nullptr}) {
    if (part == nullptr || part->direction == Direction::kWeightGradient) continue;
    const std::int64_t chunk = placement_.model_chunk({here, part->chunk});
    known_ends_[cell(part->direction, chunk, part->micro_batch)] = end;
  }
  ends.push_back(end);
  return true;
}

const std::vector<std::vector<double>>& TurnPlayer::play(std::span<const Turns> turns,
                                                         const Placement& placement,
                                                         const TurnSeconds& seconds) {
  placement_ = placement;
  hop_s_ = seconds.hop_s;
  chunks_ = placement.model_chunks();
  known_ends_.assign(static_cast<std::size_t>(2 * micro_batches_of(turns) * chunks_), kNotYet);
  ends_.resize(turns.size());
  for (std::vector<double>& ends : ends_) ends.clear();
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t position = 0; position < turns.size(); ++position) {
      while (advance(position, turns[position], seconds)) moved = true;
    }
  }
  for (std::size_t position = 0; position < turns.size(); ++position) {
    const std::size_t done = ends_[position].size();
    if (done == turns[position].size()) continue;
    const Part& part = turns[position][done].part;
    throw Error(
        ErrorKind::kRuntime,
        fmt::format("schedule: turn {} of position {} ({} of chunk {}, micro-batch {}) waits "
                    "for one that never comes",
                    done, position, name_of(kDirectionNames, part.direction), part.chunk,
                    part.micro_batch));
  }
  return ends_;
}

double makespan_s(const std::vector<std::vector<double>>& ends) {
  double last = 0;
  for (const std::vector<double>& position : ends) {
    if (!position.empty()) last = std::max(last, position.back());
  }
  return last;
}

double makespan_s(const std::vector<std::vector<double>>& ends, std::span<const Turns> turns,
                  const TurnSeconds& seconds) {
  double last_s = makespan_s(ends);
  for (std::size_t position = 0; position < turns.size(); ++position) {
    last_s = std::max(last_s, sent_s(ends[position], turns[position], seconds, position));
  }
  return last_s;
}

}  // namespace stepwright
