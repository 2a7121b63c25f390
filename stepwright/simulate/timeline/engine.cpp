#include "stepwright/simulate/timeline/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/simulate/timeline/breakdown.h"
#include "stepwright/simulate/timeline/compile.h"
#include "stepwright/simulate/timeline/match.h"
#include "stepwright/simulate/timeline/player.h"

namespace stepwright::simulate {
namespace {

/// Simulates every stage as far ahead as it can go before it waits for something unknown. Stages
/// affect each other only through the waits of their heads, so the order in which stages are
/// simulated does not change the result. When all stages wait for something unknown, the stage
/// where something happens next continues: no other stage can affect it before then.
class Engine {
 public:
  Engine(const step::StepProgram& program, const Prices& prices,
         const cost::OverlapSlowdownFactors& contention, bool record);

  Simulation run();

 private:
  /// A collective over several stages.
  struct Meeting {
    /// Stage and stream of each member that has arrived, in order of arrival.
    std::vector<std::pair<std::int32_t, std::int32_t>> members;
    double reached_s = 0;  ///< Instant at which the latest member so far arrived.
    std::size_t done = 0;
    double done_s = 0;
  };

  void run_ahead();
  void simulate_due_events(std::int32_t stage);
  void recheck_stage_waits(std::int32_t stage);
  void hear(std::int32_t stage, const SimulatedStageNotice& notice);
  void join_meeting(std::int32_t stage, const SimulatedStageNotice& notice);
  void leave_meeting(std::int32_t stage, const SimulatedStageNotice& notice);
  void call(const Meeting& meeting, double time_s);
  [[nodiscard]] std::size_t attendance(plan::CommunicatorKind group) const;
  [[noreturn]] void fail_stuck(std::int32_t stage) const;
  void collect_events(std::int32_t stage, std::vector<TimelineEvent>& events) const;

  const step::StepProgram& program_;
  FlatPricedProgram score_;
  SimulatedScheduleSlotCache memo_;
  SendReceiveMatching matching_;
  std::vector<std::vector<MessageArrival>> arrivals_;
  std::vector<StageSimulator> players_;
  std::vector<double> next_s_;      ///< Next instant at which something happens on each stage.
  std::vector<std::int32_t> free_;  ///< Stages that may be able to run ahead.
  std::vector<SimulatedStageNotice> notices_;
  std::array<std::vector<Meeting>, plan::kGroupKinds> meetings_;
  /// Number of meetings that each stage has reached, by kind of group.
  std::vector<std::array<std::int32_t, plan::kGroupKinds>> met_;
  std::vector<std::vector<StageSimulator::EndedSimulatedTask>> played_;
};

Engine::Engine(const step::StepProgram& program, const Prices& prices,
               const cost::OverlapSlowdownFactors& contention, bool record)
    : program_(program),
      score_(compile_task_queues(program, prices, !record)),
      memo_(score_.tracks.size()),
      matching_(match_sends_to_receives(program, score_)),
      next_s_(program.stages.size()),
      met_(program.stages.size()),
      played_(record ? program.stages.size() : 0) {
  const std::size_t stages = program.stages.size();
  arrivals_.reserve(stages);
  players_.reserve(stages);
  for (std::size_t s = 0; s < stages; ++s) {
    const step::PipelineStageProgram& stage = program.stages[s];
    arrivals_.emplace_back(matching_.receives[s]);
    players_.emplace_back(StageTaskProgram{.score = &score_,
                                           .track_of = score_.track_of[s],
                                           .schedule = stage.schedule,
                                           .arrivals = arrivals_[s],
                                           .contention = contention,
                                           .memo = record ? nullptr : &memo_});
    if (record) players_[s].record_ended_tasks_in(&played_[s]);
  }
}

Simulation Engine::run() {
  const auto stages = static_cast<std::int32_t>(players_.size());
  for (std::int32_t s = stages - 1; s >= 0; --s) free_.push_back(s);
  while (true) {
    run_ahead();
    const auto next = std::min_element(next_s_.begin(), next_s_.end());
    if (next == next_s_.end() || *next == kNever) break;
    free_.push_back(static_cast<std::int32_t>(next - next_s_.begin()));
    simulate_due_events(free_.back());
  }
  std::vector<StageTimeAccount> accounts;
  std::vector<double> ends_s;
  for (std::int32_t s = 0; s < stages; ++s) {
    if (!players_[s].finished()) fail_stuck(s);
    accounts.push_back(players_[s].account());
    ends_s.push_back(players_[s].end_s());
  }
  Simulation result = simulation_from_stage_time_accounts(accounts, ends_s);
  if (!played_.empty()) {
    for (std::int32_t s = 0; s < stages; ++s) collect_events(s, result.events);
  }
  return result;
}

/// Simulates every stage that can go on, until it waits for something unknown.
void Engine::run_ahead() {
  while (!free_.empty()) {
    const std::int32_t stage = free_.back();
    const StageSimulator& player = players_[stage];
    if (player.is_blocked_by_other_stage() || player.next_event_s() == kNever) {
      free_.pop_back();
    } else {
      simulate_due_events(stage);
    }
  }
}

void Engine::simulate_due_events(std::int32_t stage) {
  StageSimulator& player = players_[stage];
  notices_.clear();
  player.simulate_events_at_next_time(notices_);
  next_s_[stage] = player.next_event_s();
  for (const SimulatedStageNotice& notice : notices_) hear(stage, notice);
}

/// Lets a stage that waited for something unknown check again, with news from other stages.
void Engine::recheck_stage_waits(std::int32_t stage) {
  StageSimulator& player = players_[stage];
  if (!player.is_blocked_by_other_stage()) return;
  player.recheck_stage_waits();
  next_s_[stage] = player.next_event_s();
  if (!player.is_blocked_by_other_stage()) free_.push_back(stage);
}

void Engine::hear(std::int32_t stage, const SimulatedStageNotice& notice) {
  switch (notice.what) {
    case SimulatedStageNotice::What::kSendBegan: {
      const MatchingReceive target = matching_.targets[stage][notice.send];
      arrivals_[target.stage][target.receive].sent_s = notice.time_s;
      return;
    }
    case SimulatedStageNotice::What::kSendEnded: {
      const MatchingReceive target = matching_.targets[stage][notice.send];
      arrivals_[target.stage][target.receive].arrived_s = notice.time_s;
      return recheck_stage_waits(target.stage);
    }
    case SimulatedStageNotice::What::kReachedMeeting: return join_meeting(stage, notice);
    case SimulatedStageNotice::What::kDoneInMeeting: return leave_meeting(stage, notice);
  }
}

/// Lets a stage join a meeting: the k-th operator of a kind on each stage belongs to the k-th
/// meeting of that kind. The last stage to arrive starts the meeting.
void Engine::join_meeting(std::int32_t stage, const SimulatedStageNotice& notice) {
  std::vector<Meeting>& meetings = meetings_[static_cast<int>(notice.group)];
  const std::size_t number = met_[stage][static_cast<int>(notice.group)]++;
  if (meetings.size() <= number) meetings.resize(number + 1);
  Meeting& meeting = meetings[number];
  meeting.members.emplace_back(stage, notice.stream);
  meeting.reached_s = std::max(meeting.reached_s, notice.time_s);
  if (meeting.members.size() == attendance(notice.group)) call(meeting, meeting.reached_s);
}

/// Lets a stage leave a meeting. The last stage to be done ends the meeting for all. Streams run in
/// order, so a stage is in the latest meeting that it has joined on this stream.
void Engine::leave_meeting(std::int32_t stage, const SimulatedStageNotice& notice) {
  std::vector<Meeting>& meetings = meetings_[static_cast<int>(notice.group)];
  const std::pair<std::int32_t, std::int32_t> self(stage, notice.stream);
  const auto meeting = std::find_if(meetings.rbegin(), meetings.rend(), [&](const Meeting& one) {
    return std::find(one.members.begin(), one.members.end(), self) != one.members.end();
  });
  meeting->done_s = std::max(meeting->done_s, notice.time_s);
  if (++meeting->done == meeting->members.size()) call(*meeting, meeting->done_s);
}

void Engine::call(const Meeting& meeting, double time_s) {
  for (const auto& [member, stream] : meeting.members) {
    players_[member].call(stream, time_s);
    recheck_stage_waits(member);
  }
}

/// Returns how many stages a meeting of a kind waits for.
std::size_t Engine::attendance(plan::CommunicatorKind group) const {
  return group == plan::CommunicatorKind::kEmbedding ? 2 : players_.size();
}

void Engine::fail_stuck(std::int32_t stage) const {
  const StageSimulator::BlockedQueueHead head = players_[stage].stuck();
  double now_s = 0;
  for (const StageSimulator& player : players_) now_s = std::max(now_s, player.simulated_until_s());
  const step::PipelineStageProgram& part = program_.stages[stage];
  const step::PipelineScheduleSlot& slot = part.schedule[head.slot];
  const step::TemplateSequence& sequence = part.sequences[slot.sequence];
  const step::OperatorTemplate& piece = program_.templates[sequence.items[head.task->item].which];
  std::string reason = "the other stages of its group";
  if (head.wait != nullptr) {
    reason = head.wait->lane == kArrivals
                 ? "a message of another stage"
                 : fmt::format("stream {}", step::kStreamNames[head.wait->lane].name);
  }
  const std::int32_t operation = head.task->operation;
  const std::string_view waiting = operation == kWaitOnlyTaskOperation
                                       ? "take what messages brought"
                                       : piece.operators[operation].name;
  throw Error(
      ErrorKind::kRuntime,
      fmt::format("deadlock after {:.6g} s: stage {}, slot {} ({}, micro-batch {}), operator "
                  "\"{}\" of template \"{}\" waits for {}",
                  now_s, stage, head.slot, name_of(schedule::kDirectionNames, sequence.direction),
                  slot.micro_batch, waiting, piece.name, reason));
}

/// Turns the tasks that a stage has run and the messages that it has received into events.
void Engine::collect_events(std::int32_t stage, std::vector<TimelineEvent>& events) const {
  const step::PipelineStageProgram& part = program_.stages[stage];
  const auto before = static_cast<std::ptrdiff_t>(events.size());
  const auto add = [&](std::int32_t slot, std::int32_t item, std::int32_t operation, double start_s,
                       double end_s) {
    const step::TemplateSequenceItem& place =
        part.sequences[part.schedule[slot].sequence].items[item];
    const step::Operator& op = program_.templates[place.which].operators[operation];
    events.push_back(
        {stage, place.which, operation, place.layer_of(op),
         part.schedule[slot].micro_batch_of(place.merged_micro_batch_index_of_operator(op)), slot,
         start_s, end_s});
  };
  for (const StageSimulator::EndedSimulatedTask& played : played_[stage]) {
    if (played.task->operation == kWaitOnlyTaskOperation) continue;
    add(played.slot, played.task->item, played.task->operation, played.start_s, played.end_s);
  }
  std::size_t received = 0;
  for (std::size_t slot = 0; slot < part.schedule.size(); ++slot) {
    const TemplateSequenceTasks& track =
        score_.tracks[score_.track_of[stage][part.schedule[slot].sequence]];
    for (std::int32_t r = track.first_receive; r < track.first_receive + track.receives; ++r) {
      const double time_s = arrivals_[stage][received++].arrived_s;
      const MessageEnd& receive = score_.receives[r];
      add(static_cast<std::int32_t>(slot), receive.item, receive.operation, time_s, time_s);
    }
  }
  std::sort(events.begin() + before, events.end(),
            [](const TimelineEvent& a, const TimelineEvent& b) {
              const auto key = [](const TimelineEvent& e) {
                return std::tie(e.start_s, e.end_s, e.micro_batch, e.layer, e.which, e.operation);
              };
              return key(a) < key(b);
            });
}

}  // namespace

Simulation simulate_priced_program(const step::StepProgram& program, const Prices& prices,
                                   const cost::OverlapSlowdownFactors& contention, bool record) {
  Simulation result = Engine(program, prices, contention, record).run();
  for (std::size_t s = 0; s < result.stages.size(); ++s) {
    const ComputationSecondsByKind split =
        computation_seconds_by_kind(program, program.stages[s], prices);
    result.stages[s].breakdown.computation = split.all;
    result.stages[s].breakdown.recomputed = split.recomputed;
  }
  return result;
}

}  // namespace stepwright::simulate
