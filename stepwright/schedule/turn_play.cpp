#include "stepwright/schedule/turn_play.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"

namespace stepwright::schedule {
namespace {

std::int64_t micro_batches_of(std::span<const Turns> turns) {
  std::int64_t count = 0;
  for (const Turns& list : turns) {
    for (const PipelineScheduleTurn& turn : list) {
      count = std::max<std::int64_t>(count, turn.part.micro_batch + 1);
      if (turn.beside) count = std::max<std::int64_t>(count, turn.beside->micro_batch + 1);
    }
  }
  return count;
}

/// Returns the time in seconds at which the parameters of a turn's forward are gathered; they stay
/// gathered for the step.
double gathered_s(const std::vector<ModelChunkMessageSeconds>& messages,
                  const PipelineScheduleTurn& turn) {
  double ready_s = 0;
  for (const PipelineWorkPart* part : {&turn.part, turn.beside ? &*turn.beside : nullptr}) {
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

/// True if the reduction of a chunk's gradients may start as soon as this part runs.
bool releases_gradients(Direction direction) {
  return direction == Direction::kBackward || direction == Direction::kDataGradient;
}

/// Returns the time in seconds at which a position has sent the messages that follow its turns: a
/// chunk's messages start after its last backward begins, one chunk after the other.
double sent_s(const std::vector<double>& ends, const Turns& turns,
              const PipelineScheduleSeconds& seconds, std::size_t position) {
  if (seconds.messages.empty()) return 0;
  const std::vector<ModelChunkMessageSeconds>& messages = seconds.messages[position];
  // start times of last backwards, with their chunks, the last chunk first
  std::vector<std::pair<double, std::size_t>> begins;
  std::vector<bool> seen(messages.size(), false);
  for (std::size_t i = turns.size(); i-- > 0 && begins.size() < messages.size();) {
    for (const PipelineWorkPart* part :
         {&turns[i].part, turns[i].beside ? &*turns[i].beside : nullptr}) {
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

/// The chunks of the model from which micro-batches arrive at a place.
struct Links {
  static constexpr std::int64_t kNone = -1;

  struct End {
    std::int64_t chunk = kNone;
    bool hops = false;  ///< True if they arrive from another position.
  };

  std::int64_t chunk = 0;  ///< Chunk of the model at this place.
  End forward;             ///< The chunk whose forward must end before this chunk's forward.
  End backward;            ///< The chunk whose backward must end before this chunk's backward.
};

Links::End end_at(const ModelChunkPlacement& placement, std::optional<ModelChunkPosition> place,
                  std::int64_t own) {
  if (!place) return {};
  return {placement.model_chunk_index(*place), place->position != own};
}

/// Returns the links of all places, by position, then chunk.
std::vector<Links> links_of(const ModelChunkPlacement& placement) {
  std::vector<Links> links;
  links.reserve(static_cast<std::size_t>(placement.positions() * placement.chunks()));
  for (std::int64_t position = 0; position < placement.positions(); ++position) {
    for (std::int64_t chunk = 0; chunk < placement.chunks(); ++chunk) {
      const ModelChunkPosition own{position, chunk};
      links.push_back(
          {.chunk = placement.model_chunk_index(own),
           .forward = end_at(placement, placement.next_chunk_place_of_backward(own), position),
           .backward = end_at(placement, placement.next_chunk_place(own), position)});
    }
  }
  return links;
}

/// Sorts the turns (schedule entries) of all positions so that each comes after the turns that it
/// waits for.
template <class ScheduleTurnDependencies>
class Ordering {
 public:
  Ordering(std::span<const Turns> turns, const ModelChunkPlacement& placement,
           const std::vector<std::int32_t>& first)
      : turns_(turns),
        links_(links_of(placement)),
        chunks_of_position_(placement.chunks()),
        first_(first),
        chunks_(placement.model_chunk_count()),
        known_(static_cast<std::size_t>(2 * micro_batches_of(turns) * chunks_), kNotYet),
        next_(turns.size(), 0),
        posted_(turns.size(), 0) {}

  std::vector<ScheduleTurnDependencies> run() {
    std::vector<ScheduleTurnDependencies> steps;
    steps.reserve(static_cast<std::size_t>(first_.back()));
    for (bool moved = true; moved;) {
      moved = meet(steps);
      for (std::size_t position = 0; position < turns_.size(); ++position) {
        while (advance(position, steps)) moved = true;
      }
    }
    for (std::size_t position = 0; position < turns_.size(); ++position) {
      if (next_[position] < turns_[position].size()) fail(position);
    }
    return steps;
  }

 private:
  static constexpr std::int32_t kNotYet = -1;

  /// Index in `known_` for a forward, or for a backward or data gradient.
  [[nodiscard]] std::size_t cell(Direction direction, std::int64_t model_chunk_index,
                                 std::int64_t micro_batch) const {
    const std::int64_t passed = 2 * micro_batch + (direction == Direction::kForward ? 0 : 1);
    return static_cast<std::size_t>(passed * chunks_ + model_chunk_index);
  }

  [[nodiscard]] const Links& links(std::int64_t position, std::int64_t chunk) const {
    return links_[static_cast<std::size_t>(position * chunks_of_position_ + chunk)];
  }

  /// Finds the turn that one part of a step waits for; returns false if that turn has not been
  /// placed yet.
  bool find(const PipelineWorkPart& part, ScheduleTurnDependencies& step, std::size_t which) const {
    const Links& own = links(step.position, part.chunk);
    std::int32_t& turn = step.waits[which];
    if (part.direction == Direction::kWeightGradient) {
      turn = known_[cell(Direction::kBackward, own.chunk, part.micro_batch)];
      return turn != kNotYet;
    }
    const bool forward = part.direction == Direction::kForward;
    const Links::End& before = forward ? own.forward : own.backward;
    const bool first = before.chunk == Links::kNone;
    if (first && forward) return true;
    turn = known_[first ? cell(Direction::kForward, own.chunk, part.micro_batch)
                        : cell(part.direction, before.chunk, part.micro_batch)];
    step.hops[which] = before.hops;
    return turn != kNotYet;
  }

  [[nodiscard]] ScheduleTurnDependencies step_at(std::size_t position) const {
    ScheduleTurnDependencies step;
    step.turn = first_[position] + static_cast<std::int32_t>(next_[position]);
    step.position = static_cast<std::int16_t>(position);
    return step;
  }

  /// Places the next turn of all positions if it is the same joint turn; returns whether it did.
  bool meet(std::vector<ScheduleTurnDependencies>& steps) {
    const auto next = [&](std::size_t position) {
      const Turns& own = turns_[position];
      return next_[position] < own.size() ? own[next_[position]].part : PipelineWorkPart{};
    };
    const PipelineWorkPart first = next(0);
    if (!is_joint_work(first.direction)) return false;
    for (std::size_t position = 1; position < turns_.size(); ++position) {
      if (next(position) != first) return false;
    }
    for (std::size_t position = 0; position < turns_.size(); ++position) {
      steps.push_back(step_at(position));
      steps.back().joint = true;
      ++next_[position];
    }
    return true;
  }

  /// Places the next turn of a position if all turns that it waits for are placed; returns whether
  /// it did.
  bool advance(std::size_t position, std::vector<ScheduleTurnDependencies>& steps) {
    const std::size_t at = next_[position];
    if (at == turns_[position].size()) return false;
    const PipelineScheduleTurn& turn = turns_[position][at];
    if (is_joint_work(turn.part.direction)) return false;
    if (is_vocabulary_pass(turn.part.direction)) return pass(position, turn.part.direction, steps);
    ScheduleTurnDependencies step = step_at(position);
    if (!find(turn.part, step, 0)) return false;
    if (turn.beside && !find(*turn.beside, step, 1)) return false;
    for (const PipelineWorkPart* part : {&turn.part, turn.beside ? &*turn.beside : nullptr}) {
      if (part == nullptr || part->direction == Direction::kWeightGradient) continue;
      const std::int64_t chunk = links(step.position, part->chunk).chunk;
      known_[cell(part->direction, chunk, part->micro_batch)] = step.turn;
    }
    steps.push_back(step);
    ++next_[position];
    return true;
  }

  /// Places a pass over the vocabulary if all positions have posted the messages that it awaits;
  /// returns whether it did.
  bool pass(std::size_t position, Direction direction,
            std::vector<ScheduleTurnDependencies>& steps) {
    ScheduleTurnDependencies step = step_at(position);
    if (waits_for_all_position_messages(direction)) {
      step.waits[0] = posted_[position] - 1;
      if (step.waits[0] >= std::ranges::min(posted_)) return false;
    }
    if (sends_all_position_message(direction)) step.waits[1] = posted_[position]++;
    step.pass = true;
    steps.push_back(step);
    ++next_[position];
    return true;
  }

  [[noreturn]] void fail(std::size_t position) const {
    const PipelineWorkPart& part = turns_[position][next_[position]].part;
    throw Error(ErrorKind::kRuntime,
                fmt::format("schedule: entry {} of position {} ({} of chunk {}, micro-batch {}) "
                            "waits for an entry that never runs",
                            next_[position], position, name_of(kDirectionNames, part.direction),
                            part.chunk, part.micro_batch));
  }

  std::span<const Turns> turns_;
  std::vector<Links> links_;
  std::int64_t chunks_of_position_;
  const std::vector<std::int32_t>& first_;
  std::int64_t chunks_;  ///< Number of chunks of the model.
  /// For each `cell`, the number of its turn; kNotYet: not placed.
  std::vector<std::int32_t> known_;
  std::vector<std::size_t> next_;     ///< Next turn of each position.
  std::vector<std::int32_t> posted_;  ///< Number of messages that each position has posted.
};

}  // namespace

double ModelChunkWorkSeconds::of(Direction direction) const {
  switch (direction) {
    case Direction::kForward: return forward;
    case Direction::kBackward: return backward;
    case Direction::kDataGradient: return data;
    case Direction::kWeightGradient: return weight;
    case Direction::kEmbed: return embed;
    case Direction::kPredict: return predict;
    case Direction::kEmbedGradient: return embed_gradient;
    case Direction::kUpdate: break;
    default: break;
  }
  return 0;
}

double PipelineScheduleSeconds::of(std::size_t position, const PipelineScheduleTurn& turn) const {
  const auto seconds_of = [&](const PipelineWorkPart& part) -> const ModelChunkWorkSeconds& {
    return parts[position][static_cast<std::size_t>(part.chunk)];
  };
  const auto factor = [&](const PipelineWorkPart& part) {
    return factors.empty() ? 1.0 : factors[static_cast<std::size_t>(part.micro_batch)];
  };
  if (is_vocabulary_pass(turn.part.direction)) {
    const std::size_t pass = vocabulary_pass_index(turn.part.direction);
    return passes.empty() ? 0 : factor(turn.part) * passes[position].own[pass];
  }
  const double own_s = factor(turn.part) * seconds_of(turn.part).of(turn.part.direction);
  if (!turn.beside) return own_s;
  const bool first = turn.part.direction == Direction::kForward;
  const PipelineWorkPart& forward = first ? turn.part : *turn.beside;
  const PipelineWorkPart& other = first ? *turn.beside : turn.part;
  const std::vector<double>& beside = seconds_of(forward).beside.of(other.direction);
  const double second = factor(*turn.beside);
  if (beside.empty()) return own_s + second * seconds_of(*turn.beside).of(turn.beside->direction);
  return (factor(turn.part) + second) / 2 * beside[static_cast<std::size_t>(other.chunk)];
}

ScheduleTurnOrder::ScheduleTurnOrder(std::span<const Turns> turns,
                                     const ModelChunkPlacement& placement)
    : first_{0} {
  for (const Turns& list : turns) {
    first_.push_back(first_.back() + static_cast<std::int32_t>(list.size()));
  }
  steps_ = Ordering<ScheduleTurnDependencies>(turns, placement, first_).run();
}

const std::vector<std::vector<double>>& ScheduleTurnSimulator::turn_end_seconds(
    const ScheduleTurnOrder& order, std::span<const Turns> turns,
    const PipelineScheduleSeconds& seconds) {
  all_ends_.resize(order.steps_.size());
  free_.assign(turns.size(), 0);
  messages_.clear();
  message_ends_.clear();
  for (std::size_t s = 0; s < order.steps_.size(); ++s) {
    const ScheduleTurnOrder::ScheduleTurnDependencies& step = order.steps_[s];
    const auto position = static_cast<std::size_t>(step.position);
    const std::int32_t at = step.turn - order.first_[position];
    const PipelineScheduleTurn& turn = turns[position][static_cast<std::size_t>(at)];
    const auto number = static_cast<std::size_t>(step.turn);
    if (step.joint) {
      simulate_joint_turn(std::span(order.steps_).subspan(s, turns.size()), turn, seconds);
      s += turns.size() - 1;
      continue;
    }
    if (step.pass) {
      pass(step, turn, seconds);
      continue;
    }
    const double own_s = seconds.of(position, turn);
    double start = own_s > 0 ? free_[position] : 0;
    for (std::size_t i = 0; i < step.waits.size(); ++i) {
      if (step.waits[i] < 0) continue;
      const double ended = all_ends_[static_cast<std::size_t>(step.waits[i])];
      start = std::max(start, step.hops[i] ? ended + seconds.hop_s : ended);
    }
    double end = start + own_s;
    if (!seconds.messages.empty() && own_s > 0) {
      end = std::max(end, gathered_s(seconds.messages[position], turn));
    }
    all_ends_[number] = end;
    if (own_s > 0) free_[position] = end;
  }
  ends_.resize(turns.size());
  for (std::size_t position = 0; position < turns.size(); ++position) {
    ends_[position].assign(all_ends_.begin() + order.first_[position],
                           all_ends_.begin() + order.first_[position + 1]);
  }
  return ends_;
}

void ScheduleTurnSimulator::simulate_joint_turn(
    std::span<const ScheduleTurnOrder::ScheduleTurnDependencies> steps,
    const PipelineScheduleTurn& turn, const PipelineScheduleSeconds& seconds) {
  double longest_s = 0;
  for (std::size_t position = 0; position < steps.size(); ++position) {
    longest_s = std::max(longest_s, seconds.of(position, turn));
  }
  const double end = std::ranges::max(free_) + longest_s;
  for (const ScheduleTurnOrder::ScheduleTurnDependencies& step : steps)
    all_ends_[static_cast<std::size_t>(step.turn)] = end;
  free_.assign(steps.size(), end);
}

void ScheduleTurnSimulator::pass(const ScheduleTurnOrder::ScheduleTurnDependencies& step,
                                 const PipelineScheduleTurn& turn,
                                 const PipelineScheduleSeconds& seconds) {
  const auto position = static_cast<std::size_t>(step.position);
  const auto& [awaited, posted] = step.waits;
  const std::size_t pass = vocabulary_pass_index(turn.part.direction);
  const bool is_there = !seconds.passes.empty() && seconds.passes[position].is_there[pass];
  double& free = free_[position];
  if (awaited >= 0 && is_there) free = std::max(free, joint_message_end_seconds(awaited));
  free += seconds.of(position, turn);
  all_ends_[static_cast<std::size_t>(step.turn)] = is_there ? free : 0;
  if (posted < 0) return;
  const auto number = static_cast<std::size_t>(posted);
  if (messages_.size() <= number) messages_.resize(number + 1);
  AllPositionsMessage& message = messages_[number];
  message.posted_s = std::max(message.posted_s, free);
  if (seconds.passes.empty()) return;
  message.seconds = std::max(message.seconds, seconds.passes[position].messages[pass]);
}

double ScheduleTurnSimulator::joint_message_end_seconds(std::int32_t message) {
  const auto number = static_cast<std::size_t>(message);
  while (message_ends_.size() <= number) {
    const AllPositionsMessage& next = messages_[message_ends_.size()];
    const double free = message_ends_.empty() ? 0 : message_ends_.back();
    message_ends_.push_back(std::max(free, next.posted_s) + next.seconds);
  }
  return message_ends_[number];
}

double makespan_s(const std::vector<std::vector<double>>& ends) {
  double last = 0;
  for (const std::vector<double>& position : ends) {
    if (!position.empty()) last = std::max(last, std::ranges::max(position));
  }
  return last;
}

double makespan_s(const std::vector<std::vector<double>>& ends, std::span<const Turns> turns,
                  const PipelineScheduleSeconds& seconds) {
  double last_s = makespan_s(ends);
  for (std::size_t position = 0; position < turns.size(); ++position) {
    last_s = std::max(last_s, sent_s(ends[position], turns[position], seconds, position));
  }
  return last_s;
}

}  // namespace stepwright::schedule
