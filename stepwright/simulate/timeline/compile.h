#pragma once

#include <span>
#include <vector>

#include "stepwright/simulate/timeline/score.h"

namespace stepwright::simulate {

/// Turns templates and sequences into a score. After `clear` an object may be used again; it reuses
/// its memory, so that short sequences allocate nothing.
class Compiler {
 public:
  struct Options {
    bool merge = true;  ///< Merge computations that no other stream can tell apart into one task.
    /// A collective whose ranks are in several stages waits until the last stage reaches it.
    bool meetings = true;
    bool arrivals = true;  ///< Receives wait for their message; false: they end at once.
  };

  explicit Compiler(Options options) : options_(options) {}

  /// Adds the next template, with the price of each of its operators. Both must outlive the
  /// compiler's use of them. Throws `Error{kRuntime}` for a price that is not a finite duration and
  /// for an operator that waits for one issued later.
  void add(const step::Template& piece, std::span<const cost::OperatorTime> times);

  /// Adds the next track. Throws `Error{kRuntime}` for an item that waits for a later one, and
  /// `Error{kUnsupported}` for more than 64 receives in one sequence.
  void append(std::span<const step::Item> items, schedule::Direction direction);

  void clear();
  [[nodiscard]] FlatPricedProgram& score() { return score_; }

 private:
  /// How many tasks of each stream (counted from the slot's start; -1: none) and which receives
  /// must have ended.
  struct Need {
    std::array<std::int32_t, step::kStreams> tasks;
    std::uint64_t receives = 0;
    Need() { tasks.fill(-1); }
    void merge(const Need& other);
  };
  /// A template: the position of each operator in its queue, and the length of each queue.
  struct TemplateQueues {
    const step::Template* piece = nullptr;
    std::span<const cost::OperatorTime> times;
    std::size_t first_place = 0;
    std::array<std::int32_t, step::kStreams + 1> count{};
  };

  [[nodiscard]] bool awaits_messages(std::span<const step::Item> items,
                                     schedule::Direction direction) const;
  void lay_out(std::span<const step::Item> items, bool holds);
  void hold();
  [[nodiscard]] Need release(std::span<const step::Item> items, std::int32_t item,
                             schedule::Direction direction) const;
  void append_item(const step::Item& item, std::int32_t index, schedule::Direction direction);
  [[nodiscard]] Need need(const TemplateQueues& outline, const step::Operator& op,
                          const Need& release) const;
  void write_waits(Task& task, int stream, const Need& need);
  [[nodiscard]] Need ended(const TemplateQueues& outline, const Need& release) const;
  void merge_computations();

  Options options_;
  FlatPricedProgram score_;
  std::vector<TemplateQueues> outlines_;
  std::vector<std::int32_t> places_;
  // State of the present sequence.
  Track track_;
  std::array<std::int32_t, step::kStreams + 1> base_{};  ///< Queue lengths before the present item.
  /// Waits that a task of each stream may leave out, since an earlier task has them.
  std::array<Need, step::kStreams> known_;
  std::vector<Need> ends_;  ///< For each item, the needs that are met when it has fully ended.
  std::vector<Need> receive_needs_;
  std::vector<std::int32_t> merged_;
  std::size_t first_wait_ = 0;
};

/// Returns the score of a program. `merge`: as in the compiler's options.
FlatPricedProgram compile(const step::StepProgram& program, const Prices& prices, bool merge);

}  // namespace stepwright::simulate
