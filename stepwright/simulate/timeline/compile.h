#pragma once

#include <span>
#include <vector>

#include "stepwright/simulate/timeline/score.h"

namespace stepwright::simulate {

/// Translates templates and sequences into flat queues of tasks that the simulator runs
/// (`FlatPricedProgram`). After `clear` the object may be used again; it keeps its memory, so short
/// sequences allocate nothing.
class TaskQueueCompiler {
 public:
  struct Options {
    /// True: merges computations into one task if no other stream can tell them apart.
    bool merge = true;
    /// True: a collective whose ranks are in several stages waits until the last stage reaches it.
    bool meetings = true;
    bool arrivals = true;  ///< True: receives wait for their message; false: they end at once.
  };

  explicit TaskQueueCompiler(Options options) : options_(options) {}

  /// Adds the next template (operators of a block in one direction), with the seconds of each of
  /// its operators. Both must outlive this object's use of them. Throws `Error{kRuntime}` for a
  /// time that is not finite, and for an operator that waits for one issued later.
  void add(const step::OperatorTemplate& piece, std::span<const cost::OperatorTime> times);

  /// Adds the next sequence of templates (a forward or backward of a chunk) as lists of tasks by
  /// stream. Throws `Error{kRuntime}` for an item that waits for a later one, and
  /// `Error{kUnsupported}` for more than 64 receives in one sequence.
  void append(std::span<const step::TemplateSequenceItem> items, schedule::Direction direction);

  void clear();
  [[nodiscard]] FlatPricedProgram& score() { return score_; }

 private:
  /// Conditions for a task to start: for each stream, how many of its tasks, counted from the start
  /// of the schedule entry (forward or backward), must have ended (-1: none), and the receives that
  /// must have ended.
  struct TaskPrerequisites {
    std::array<std::int32_t, step::kStreams> tasks;
    std::uint64_t receives = 0;
    TaskPrerequisites() { tasks.fill(-1); }
    void merge(const TaskPrerequisites& other);
  };
  /// A template (operators of a block in one direction) as queues: the place of each operator in
  /// the queue of its stream, and the length of each queue.
  struct OperatorTemplateQueues {
    const step::OperatorTemplate* piece = nullptr;
    std::span<const cost::OperatorTime> times;
    std::size_t first_place = 0;
    std::array<std::int32_t, step::kStreams + 1> count{};
  };

  [[nodiscard]] bool awaits_messages(std::span<const step::TemplateSequenceItem> items,
                                     schedule::Direction direction) const;
  void lay_out(std::span<const step::TemplateSequenceItem> items, bool holds);
  void hold();
  [[nodiscard]] TaskPrerequisites release(std::span<const step::TemplateSequenceItem> items,
                                          std::int32_t item, schedule::Direction direction) const;
  void append_item(const step::TemplateSequenceItem& item, std::int32_t index,
                   schedule::Direction direction);
  [[nodiscard]] TaskPrerequisites need(const OperatorTemplateQueues& outline,
                                       const step::Operator& op,
                                       const TaskPrerequisites& release) const;
  void write_waits(StreamTask& task, int stream, const TaskPrerequisites& need);
  [[nodiscard]] TaskPrerequisites ended(const OperatorTemplateQueues& outline,
                                        const TaskPrerequisites& release) const;
  void merge_computations();

  Options options_;
  FlatPricedProgram score_;
  std::vector<OperatorTemplateQueues> outlines_;
  std::vector<std::int32_t> places_;
  // State of the present sequence.
  TemplateSequenceTasks track_;
  /// For each stream, the number of tasks in its queue before the current template of the sequence.
  std::array<std::int32_t, step::kStreams + 1> base_{};
  /// For each stream, what its earlier tasks already wait for, so that later tasks need not wait
  /// for it again.
  std::array<TaskPrerequisites, step::kStreams> known_;
  /// For each template of the sequence: the tasks and receives whose end means that the template
  /// has fully ended.
  std::vector<TaskPrerequisites> ends_;
  std::vector<TaskPrerequisites> receive_needs_;
  std::vector<std::int32_t> merged_;
  std::size_t first_wait_ = 0;
};

/// Returns a program as flat queues of tasks for the simulator. `merge`: true to merge computations
/// that no other stream can tell apart.
FlatPricedProgram compile_task_queues(const step::StepProgram& program, const Prices& prices,
                                      bool merge);

}  // namespace stepwright::simulate
