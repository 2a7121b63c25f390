#include "stepwright/simulate/timeline/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stepwright/core/error.h"

namespace stepwright::simulate {
namespace {

constexpr int kMostReceives = 64;

bool couples_stages(plan::CommunicatorKind group) {
  return group == plan::CommunicatorKind::kEmbedding ||
         group == plan::CommunicatorKind::kPipeline || group == plan::CommunicatorKind::kNorm ||
         group == plan::CommunicatorKind::kExpertNorm || group == plan::CommunicatorKind::kWorld;
}

TaskRole role_of(const step::Operator& op, bool meetings) {
  if (op.kind == step::OperatorKind::kSend) return TaskRole::kSend;
  if (!step::is_communication(op.kind)) {
    const bool beside =
        step::operator_involves_host(op.kind) && op.stream != step::DeviceStream::kCompute;
    return beside ? TaskRole::kMessage : TaskRole::kComputation;
  }
  return meetings && couples_stages(op.group) ? TaskRole::kMeeting : TaskRole::kMessage;
}

int lane_of(const step::Operator& op) {
  return op.kind == step::OperatorKind::kReceive ? kArrivals : static_cast<int>(op.stream);
}

bool goes_backward(const step::Operator& op) { return op.phase != step::Phase::kForward; }

void check(const step::OperatorTemplate& piece, std::span<const cost::OperatorTime> times) {
  if (times.size() != piece.operators.size()) {
    throw Error(ErrorKind::kRuntime, fmt::format("template \"{}\": {} prices for {} operators",
                                                 piece.name, times.size(), piece.operators.size()));
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    if (!std::isfinite(times[i].seconds) || times[i].seconds < 0) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("template \"{}\", operator {} \"{}\": a price of {} s", piece.name, i,
                              op.name, times[i].seconds));
    }
    for (const std::int32_t other : piece.after(op)) {
      if (other < 0 || static_cast<std::size_t>(other) >= i) {
        throw Error(ErrorKind::kRuntime,
                    fmt::format("template \"{}\", operator {} \"{}\" waits for operator {}, which "
                                "is not issued before it",
                                piece.name, i, op.name, other));
      }
    }
  }
}

}  // namespace

void TaskQueueCompiler::TaskPrerequisites::merge(const TaskPrerequisites& other) {
  for (int s = 0; s < step::kStreams; ++s) tasks[s] = std::max(tasks[s], other.tasks[s]);
  receives |= other.receives;
}

void TaskQueueCompiler::clear() {
  score_.tasks.clear();
  score_.waits.clear();
  score_.receives.clear();
  score_.sends.clear();
  score_.tracks.clear();
  score_.track_of.clear();
  outlines_.clear();
  places_.clear();
}

void TaskQueueCompiler::add(const step::OperatorTemplate& piece,
                            std::span<const cost::OperatorTime> times) {
  check(piece, times);
  OperatorTemplateQueues outline{.piece = &piece, .times = times, .first_place = places_.size()};
  for (const step::Operator& op : piece.operators) places_.push_back(outline.count[lane_of(op)]++);
  outlines_.push_back(outline);
}

void TaskQueueCompiler::append(std::span<const step::TemplateSequenceItem> items,
                               schedule::Direction direction) {
  const bool holds = awaits_messages(items, direction);
  lay_out(items, holds);
  first_wait_ = score_.waits.size();
  base_.fill(0);
  known_.fill(TaskPrerequisites());
  if (holds) hold();
  ends_.clear();
  receive_needs_.clear();
  for (std::size_t i = 0; i < items.size(); ++i) {
    ends_.push_back(release(items, static_cast<std::int32_t>(i), direction));
    append_item(items[i], static_cast<std::int32_t>(i), direction);
  }
  if (options_.merge) merge_computations();
  score_.tracks.push_back(track_);
}

/// True if a pass over the vocabulary uses, or sends on, data that messages of earlier slots bring.
bool TaskQueueCompiler::awaits_messages(std::span<const step::TemplateSequenceItem> items,
                                        schedule::Direction direction) const {
  return schedule::waits_for_all_position_messages(direction) &&
         std::ranges::any_of(items, [&](const step::TemplateSequenceItem& item) {
           const step::OperatorTemplate& piece = *outlines_[item.which].piece;
           const bool idle = piece.operators.empty() && piece.outputs.empty();
           return !piece.restored.empty() && !idle;
         });
}

/// Sets the sizes of the queues of a sequence and reserves its tasks.
void TaskQueueCompiler::lay_out(std::span<const step::TemplateSequenceItem> items, bool holds) {
  track_ = TemplateSequenceTasks{};
  track_.first_receive = static_cast<std::int32_t>(score_.receives.size());
  track_.first_send = static_cast<std::int32_t>(score_.sends.size());
  for (const step::TemplateSequenceItem& item : items) {
    const OperatorTemplateQueues& outline = outlines_[item.which];
    for (int s = 0; s < step::kStreams; ++s) track_.count[s] += outline.count[s];
    track_.receives += outline.count[kArrivals];
  }
  if (track_.receives > kMostReceives) {
    throw Error(ErrorKind::kUnsupported, fmt::format("a sequence with {} receives, at most {}",
                                                     track_.receives, kMostReceives));
  }
  if (holds) ++track_.count[static_cast<int>(step::DeviceStream::kCompute)];
  auto next = static_cast<std::int32_t>(score_.tasks.size());
  for (int s = 0; s < step::kStreams; ++s) {
    track_.first[s] = next;
    next += track_.count[s];
  }
  score_.tasks.resize(static_cast<std::size_t>(next));
}

/// Begins a slot with a task of zero time that waits for all messages that earlier slots have
/// posted.
void TaskQueueCompiler::hold() {
  constexpr int kLane = static_cast<int>(step::DeviceStream::kCompute);
  StreamTask& task = score_.tasks[track_.first[kLane]];
  task = StreamTask{.operation = kWaitOnlyTaskOperation};
  TaskPrerequisites arrived;
  arrived.tasks[static_cast<int>(step::DeviceStream::kVocabulary)] = 0;
  write_waits(task, kLane, arrived);
  base_[kLane] = 1;
}

/// Returns the needs for an item to begin. An item without predecessors may begin when the compute
/// stream has reached the slot; in an update, when all streams have.
TaskQueueCompiler::TaskPrerequisites TaskQueueCompiler::release(
    std::span<const step::TemplateSequenceItem> items, std::int32_t item,
    schedule::Direction direction) const {
  TaskPrerequisites need;
  const auto& after = items[item].after;
  if (after.empty()) need.tasks[static_cast<int>(step::DeviceStream::kCompute)] = 0;
  if (after.empty() && direction == schedule::Direction::kUpdate) need.tasks.fill(0);
  for (const std::int32_t other : after) {
    if (other < 0 || other >= item) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("item {} waits for item {}, which is not before it", item, other));
    }
    need.merge(ends_[other]);
  }
  return need;
}

/// Writes the tasks of an item. The item's release is the last entry of `ends_`; the needs for its
/// end replace it.
void TaskQueueCompiler::append_item(const step::TemplateSequenceItem& item, std::int32_t index,
                                    schedule::Direction direction) {
  const OperatorTemplateQueues& outline = outlines_[item.which];
  const TaskPrerequisites begin = ends_.back();
  const auto& operators = outline.piece->operators;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const step::Operator& op = operators[i];
    const auto operation = static_cast<std::int32_t>(i);
    const int lane = lane_of(op);
    const TaskPrerequisites wanted = need(outline, op, begin);
    if (lane == kArrivals) {
      score_.receives.push_back({index, operation, goes_backward(op)});
      receive_needs_.push_back(wanted);
      continue;
    }
    const std::int32_t place = base_[lane] + places_[outline.first_place + i];
    StreamTask& task = score_.tasks[track_.first[lane] + place];
    task = StreamTask{
        .seconds = outline.times[i].seconds,
        .item = index,
        .operation = operation,
        .role = role_of(op, options_.meetings),
        .link = step::is_communication(op.kind) ? outline.times[i].link : cost::LinkClass::kNone,
        .scheme = op.scheme,
        .group = op.group,
        .optimizer =
            direction == schedule::Direction::kUpdate || op.phase == step::Phase::kOptimizer,
        .send = static_cast<std::int16_t>(track_.sends)};
    if (task.role == TaskRole::kSend) {
      score_.sends.push_back({index, operation, goes_backward(op)});
      ++track_.sends;
    }
    write_waits(task, lane, wanted);
  }
  ends_.back() = ended(outline, begin);
  for (int l = 0; l <= kArrivals; ++l) base_[l] += outline.count[l];
}

/// Returns the needs of an operator of the present item.
TaskQueueCompiler::TaskPrerequisites TaskQueueCompiler::need(
    const OperatorTemplateQueues& outline, const step::Operator& op,
    const TaskPrerequisites& release) const {
  TaskPrerequisites need = release;
  for (const std::int32_t other : outline.piece->after(op)) {
    const auto index = static_cast<std::size_t>(other);
    const int lane = lane_of(outline.piece->operators[index]);
    const std::int32_t place = base_[lane] + places_[outline.first_place + index];
    if (lane == kArrivals) {
      need.receives |= std::uint64_t{1} << place;
      need.merge(receive_needs_[place]);
    } else {
      need.tasks[lane] = std::max(need.tasks[lane], place + 1);
    }
  }
  return need;
}

/// Writes the waits of a task that earlier tasks of its stream have not waited for already.
void TaskQueueCompiler::write_waits(StreamTask& task, int stream, const TaskPrerequisites& need) {
  TaskPrerequisites& known = known_[stream];
  task.first_wait = static_cast<std::int32_t>(score_.waits.size());
  for (int s = 0; s < step::kStreams; ++s) {
    if (s == stream || need.tasks[s] <= known.tasks[s]) continue;
    score_.waits.push_back({s, need.tasks[s]});
    known.tasks[s] = need.tasks[s];
  }
  std::uint64_t fresh = options_.arrivals ? need.receives & ~known.receives : 0;
  known.receives |= fresh;
  for (std::int32_t receive = 0; fresh != 0; ++receive, fresh >>= 1U) {
    if ((fresh & 1U) != 0) score_.waits.push_back({kArrivals, receive});
  }
  task.last_wait = static_cast<std::int32_t>(score_.waits.size());
}

/// Returns the needs for the present item to have fully ended; for an item without operators, its
/// release.
TaskQueueCompiler::TaskPrerequisites TaskQueueCompiler::ended(
    const OperatorTemplateQueues& outline, const TaskPrerequisites& release) const {
  TaskPrerequisites end = release;
  for (int s = 0; s < step::kStreams; ++s) {
    if (outline.count[s] > 0) end.tasks[s] = std::max(end.tasks[s], base_[s] + outline.count[s]);
  }
  for (std::int32_t r = base_[kArrivals]; r < base_[kArrivals] + outline.count[kArrivals]; ++r) {
    end.receives |= std::uint64_t{1} << r;
    end.merge(receive_needs_[r]);
  }
  return end;
}

/// Merges each computation with the one before it on the compute stream where no other stream can
/// tell them apart: the second waits for nothing, and no task waits for a point between them.
void TaskQueueCompiler::merge_computations() {
  constexpr int kLane = static_cast<int>(step::DeviceStream::kCompute);
  const std::int32_t count = track_.count[kLane];
  merged_.assign(static_cast<std::size_t>(count) + 1, 0);
  const std::span<TaskWaitCondition> waits = std::span(score_.waits).subspan(first_wait_);
  for (const TaskWaitCondition& wait : waits) {
    if (wait.lane == kLane) merged_[wait.count] = 1;
  }
  StreamTask* const tasks = score_.tasks.data() + track_.first[kLane];
  std::int32_t kept = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    const StreamTask task = tasks[i];
    const bool joins = kept > 0 && merged_[i] == 0 && task.first_wait == task.last_wait &&
                       task.role == TaskRole::kComputation &&
                       tasks[kept - 1].role == TaskRole::kComputation &&
                       tasks[kept - 1].optimizer == task.optimizer;
    merged_[i] = kept;
    if (joins) {
      tasks[kept - 1].seconds += task.seconds;
    } else {
      tasks[kept++] = task;
    }
  }
  merged_[count] = kept;
  for (TaskWaitCondition& wait : waits) {
    if (wait.lane == kLane) wait.count = merged_[wait.count];
  }
  track_.count[kLane] = kept;
}

namespace {

/// Returns everything of a sequence on which its track depends, as a key.
std::vector<std::int32_t> what_is_played(const step::TemplateSequence& sequence) {
  std::vector<std::int32_t> key{static_cast<std::int32_t>(sequence.direction)};
  for (const step::TemplateSequenceItem& item : sequence.items) {
    key.push_back(item.which);
    key.push_back(static_cast<std::int32_t>(item.after.size()));
    key.insert(key.end(), item.after.begin(), item.after.end());
  }
  return key;
}

}  // namespace

FlatPricedProgram compile_task_queues(const step::StepProgram& program, const Prices& prices,
                                      bool merge) {
  if (prices.size() != program.templates.size()) {
    throw Error(ErrorKind::kRuntime, fmt::format("prices of {} templates for a program of {}",
                                                 prices.size(), program.templates.size()));
  }
  TaskQueueCompiler compiler({.merge = merge, .meetings = program.stages.size() > 1});
  for (std::size_t i = 0; i < prices.size(); ++i) compiler.add(program.templates[i], prices[i]);
  FlatPricedProgram& score = compiler.score();
  std::map<std::vector<std::int32_t>, std::int32_t> known;
  for (const step::PipelineStageProgram& stage : program.stages) {
    std::vector<std::int32_t>& tracks = score.track_of.emplace_back();
    for (const step::TemplateSequence& sequence : stage.sequences) {
      const auto next = static_cast<std::int32_t>(score.tracks.size());
      const auto [entry, fresh] = known.try_emplace(what_is_played(sequence), next);
      if (fresh) compiler.append(sequence.items, sequence.direction);
      tracks.push_back(entry->second);
    }
  }
  return std::move(score);
}

}  // namespace stepwright::simulate
