#include "stepwright/simulate/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/simulate/breakdown.h"
#include "stepwright/simulate/compile.h"
#include "stepwright/simulate/earliest.h"
#include "stepwright/simulate/match.h"
#include "stepwright/simulate/player.h"

namespace stepwright {
namespace {

/// Plays all stages side by side: always the one where something ends next, then those that it
/// woke.
class Engine {
 public:
  Engine(const StepProgram& program, const Prices& prices, const Contention& contention,
         bool record);

  Simulation run();

 private:
  /// A collective over several stages.
  struct Meeting {
    std::vector<std::pair<std::int32_t, std::int32_t>>
        members;  ///< Stage and stream, as they come.
    std::size_t done = 0;
  };

  void wake(std::int32_t stage);
  void settle_woken();
  void settle(std::int32_t stage);
  void hear(std::int32_t stage, const Notice& notice);
  void join_meeting(std::int32_t stage, const Notice& notice);
  void leave_meeting(std::int32_t stage, const Notice& notice);
  [[nodiscard]] std::size_t attendance(GroupKind group) const;
  [[noreturn]] void fail_stuck(std::int32_t stage) const;
  void collect_events(std::int32_t stage, std::vector<Event>& events) const;

  const StepProgram& program_;
  Score score_;
  Matching matching_;
  std::vector<std::vector<Arrival>> arrivals_;
  std::vector<Player> players_;
  Earliest next_;
  std::vector<Notice> notices_;
  std::vector<std::int32_t> woken_;
  std::vector<char> is_woken_;
  std::array<std::vector<Meeting>, kGroupKinds> meetings_;
  std::vector<std::array<std::int32_t, kGroupKinds>> met_;  ///< Per stage: meetings reached.
  std::vector<std::vector<Player::Played>> played_;
  double now_s_ = 0;
};

Engine::Engine(const StepProgram& program, const Prices& prices, const Contention& contention,
               bool record)
    : program_(program),
      score_(compile(program, prices, !record)),
      matching_(match(program, score_)),
      next_(static_cast<std::int32_t>(std::max<std::size_t>(program.stages.size(), 1))),
      is_woken_(program.stages.size()),
      met_(program.stages.size()),
      played_(record ? program.stages.size() : 0) {
  const std::size_t stages = program.stages.size();
  arrivals_.reserve(stages);
  players_.reserve(stages);
  for (std::size_t s = 0; s < stages; ++s) {
    const Stage& stage = program.stages[s];
    arrivals_.emplace_back(matching_.receives[s]);
    players_.emplace_back(Part{
        .score = &score_,
        .tracks = std::span(score_.tracks).subspan(score_.first_track[s], stage.sequences.size()),
        .schedule = stage.schedule,
        .arrivals = arrivals_[s],
        .contention = contention});
    if (record) players_[s].record(&played_[s]);
  }
}

Simulation Engine::run() {
  const auto stages = static_cast<std::int32_t>(players_.size());
  for (std::int32_t s = stages - 1; s >= 0; --s) wake(s);
  settle_woken();
  while (next_.time() != kNever) {
    now_s_ = next_.time();
    settle(next_.index());
    settle_woken();
  }
  std::vector<Account> accounts;
  std::vector<double> ends_s;
  for (std::int32_t s = 0; s < stages; ++s) {
    if (!players_[s].finished()) fail_stuck(s);
    accounts.push_back(players_[s].account());
    ends_s.push_back(players_[s].end_s());
  }
  Simulation result = conclude(accounts, ends_s);
  if (!played_.empty()) {
    for (std::int32_t s = 0; s < stages; ++s) collect_events(s, result.events);
  }
  return result;
}

void Engine::wake(std::int32_t stage) {
  if (is_woken_[stage] != 0) return;
  is_woken_[stage] = 1;
  woken_.push_back(stage);
}

void Engine::settle_woken() {
  while (!woken_.empty()) {
    const std::int32_t stage = woken_.back();
    woken_.pop_back();
    is_woken_[stage] = 0;
    settle(stage);
  }
}

void Engine::settle(std::int32_t stage) {
  notices_.clear();
  players_[stage].settle(now_s_, notices_);
  next_.set(stage, players_[stage].next_s());
  for (const Notice& notice : notices_) hear(stage, notice);
}

void Engine::hear(std::int32_t stage, const Notice& notice) {
  switch (notice.what) {
    case Notice::What::kSendBegan: {
      const Target target = matching_.targets[stage][notice.send];
      arrivals_[target.stage][target.receive].sent_s = now_s_;
      return;
    }
    case Notice::What::kSendEnded: {
      const Target target = matching_.targets[stage][notice.send];
      arrivals_[target.stage][target.receive].arrived_s = now_s_;
      if (players_[target.stage].awaits(target.receive)) wake(target.stage);
      return;
    }
    case Notice::What::kReachedMeeting: return join_meeting(stage, notice);
    case Notice::What::kDoneInMeeting: return leave_meeting(stage, notice);
  }
}

/// The k-th operator of a kind on each stage belongs to the k-th meeting; the last to come starts
/// it.
void Engine::join_meeting(std::int32_t stage, const Notice& notice) {
  std::vector<Meeting>& meetings = meetings_[static_cast<int>(notice.group)];
  const std::size_t number = met_[stage][static_cast<int>(notice.group)]++;
  if (meetings.size() <= number) meetings.resize(number + 1);
  Meeting& meeting = meetings[number];
  meeting.members.emplace_back(stage, notice.stream);
  if (meeting.members.size() < attendance(notice.group)) return;
  for (const auto& [member, stream] : meeting.members) {
    players_[member].begin_meeting(stream);
    wake(member);
  }
}

/// The last to be done ends it for all. Streams run in order, so a stage is in the latest meeting
/// that it has joined on this stream.
void Engine::leave_meeting(std::int32_t stage, const Notice& notice) {
  std::vector<Meeting>& meetings = meetings_[static_cast<int>(notice.group)];
  const std::pair<std::int32_t, std::int32_t> self(stage, notice.stream);
  const auto meeting = std::find_if(meetings.rbegin(), meetings.rend(), [&](const Meeting& one) {
    return std::find(one.members.begin(), one.members.end(), self) != one.members.end();
  });
  if (++meeting->done < meeting->members.size()) return;
  for (const auto& [member, stream] : meeting->members) {
    players_[member].end_meeting(stream);
    wake(member);
  }
}

/// How many stages a meeting of a kind waits for.
std::size_t Engine::attendance(GroupKind group) const {
  return group == GroupKind::kEmbedding ? 2 : players_.size();
}

void Engine::fail_stuck(std::int32_t stage) const {
  const Player::Head head = players_[stage].stuck();
  const Stage& part = program_.stages[stage];
  const Slot& slot = part.schedule[head.slot];
  const Sequence& sequence = part.sequences[slot.sequence];
  const Template& piece = program_.templates[sequence.items[head.task->item].which];
  std::string reason = "the other stages of its group";
  if (head.wait != nullptr) {
    reason = head.wait->lane == kArrivals
                 ? "a message of another stage"
                 : fmt::format("stream {}", kStreamNames[head.wait->lane].name);
  }
  throw Error(
      ErrorKind::kRuntime,
      fmt::format("deadlock after {:.6g} s: stage {}, slot {} ({}, micro-batch {}), operator "
                  "\"{}\" of template \"{}\" waits for {}",
                  now_s_, stage, head.slot, name_of(kDirectionNames, sequence.direction),
                  slot.micro_batch, piece.operators[head.task->operation].name, piece.name,
                  reason));
}

/// Turns what a stage has played and received into events.
void Engine::collect_events(std::int32_t stage, std::vector<Event>& events) const {
  const Stage& part = program_.stages[stage];
  const auto before = static_cast<std::ptrdiff_t>(events.size());
  const auto add = [&](std::int32_t slot, std::int32_t item, std::int32_t operation, double start_s,
                       double end_s) {
    const Item& place = part.sequences[part.schedule[slot].sequence].items[item];
    events.push_back({stage, place.which, operation, place.layer, part.schedule[slot].micro_batch,
                      start_s, end_s});
  };
  for (const Player::Played& played : played_[stage]) {
    add(played.slot, played.task->item, played.task->operation, played.start_s, played.end_s);
  }
  std::size_t received = 0;
  for (std::size_t slot = 0; slot < part.schedule.size(); ++slot) {
    const Track& track = score_.tracks[score_.first_track[stage] + part.schedule[slot].sequence];
    for (std::int32_t r = track.first_receive; r < track.first_receive + track.receives; ++r) {
      const double time_s = arrivals_[stage][received++].arrived_s;
      const MessageEnd& receive = score_.receives[r];
      add(static_cast<std::int32_t>(slot), receive.item, receive.operation, time_s, time_s);
    }
  }
  std::sort(events.begin() + before, events.end(), [](const Event& a, const Event& b) {
    const auto key = [](const Event& e) {
      return std::tie(e.start_s, e.end_s, e.micro_batch, e.layer, e.which, e.operation);
    };
    return key(a) < key(b);
  });
}

}  // namespace

Simulation play(const StepProgram& program, const Prices& prices, const Contention& contention,
                bool record) {
  return Engine(program, prices, contention, record).run();
}

}  // namespace stepwright
