#pragma once

#include <span>
#include <vector>

#include "stepwright/simulate/timeline/score.h"

namespace stepwright::simulate {

/// Turns templates and sequences into a score. An object may be used again after `clear`; its
/// memory stays, so that short sequences cost no allocation.
class Compiler {
 public:
  struct Options {
    bool merge = true;     ///< Run computations that nothing can tell apart as one task.
    bool meetings = true;  ///< Collectives over several stages wait for the others.
    bool arrivals = true;  ///< Receives wait for their message; otherwise they end at once.
  };

  explicit Compiler(Options options) : options_(options) {}

  /// The next template, with the price of each of its operators. Both must outlive the compiler's
  /// use of them. Throws `Error{kRuntime}` for a price that is no finite duration and for an
  /// operator that waits for one issued later.
  void add(const step::Template& piece, std::span<const cost::OperatorTime> times);

  /// The next track. Throws `Error{kRuntime}` for an item that waits for a later one, and
  /// `Error{kUnsupported}` for more than 64 receives in one sequence.
  void append(std::span<const step::Item> items, schedule::Direction direction);

  void clear();
  [[nodiscard]] Score& score() { return score_; }

 private:
  /// Tasks per stream and receives that must have ended, counted from the slot's start; -1: none.
  struct Need {
    std::array<std::int32_t, step::kStreams> tasks;
    std::uint64_t receives = 0;
    Need() { tasks.fill(-1); }
    void merge(const Need& other);
  };
  /// A template: the place of each operator in its queue, and the length of each queue.
  struct Outline {
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
  [[nodiscard]] Need need(const Outline& outline, const step::Operator& op,
                          const Need& release) const;
  void write_waits(Task& task, int stream, const Need& need);
  [[nodiscard]] Need ended(const Outline& outline, const Need& release) const;
  void merge_computations();

  Options options_;
  Score score_;
  std::vector<Outline> outlines_;
  std::vector<std::int32_t> places_;
  // Of the sequence in hand.
  Track track_;
  std::array<std::int32_t, step::kStreams + 1> base_{};  ///< Queue lengths before the item in hand.
  std::array<Need, step::kStreams> known_;  ///< By stream: waits that a task may leave out.
  std::vector<Need> ends_;                  ///< Per item: when it has fully ended.
  std::vector<Need> receive_needs_;
  std::vector<std::int32_t> merged_;
  std::size_t first_wait_ = 0;
};

/// The score of a program. `merge` as in the compiler's options.
Score compile(const step::StepProgram& program, const Prices& prices, bool merge);

}  // namespace stepwright::simulate
