#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// Symbolic content of a piece of memory in the proof of a schedule: the sum of some ranks' inputs
/// at one index of the collective's buffer.
struct SymbolicSum {
  /// Index, in the collective's buffer, of the elements that are summed; -1: the piece holds no
  /// value yet.
  std::int64_t place = -1;
  /// Set of the ranks in the sum: one bit for each rank; for more than 64 ranks, the sum of a
  /// random number for each.
  std::uint64_t ranks = 0;

  bool operator==(const SymbolicSum&) const = default;
};

/// Start and required end of a collective operation: the symbolic content of each rank's input and
/// output.
class CollectiveSymbolicContract {
 public:
  explicit CollectiveSymbolicContract(const CollectiveSchedule& schedule);

  /// Returns the symbolic content of a piece of a rank's input buffer.
  [[nodiscard]] SymbolicSum initial_symbolic_input(std::int32_t rank, std::int32_t piece) const;
  /// Returns the symbolic content that a piece of a rank's output buffer must have in the end;
  /// nullopt: any content is allowed.
  [[nodiscard]] std::optional<SymbolicSum> required_symbolic_output(std::int32_t rank,
                                                                    std::int32_t piece) const;
  /// Returns the sum of two symbolic contents; nullopt if their buffer indices differ, or if a rank
  /// is in both, so that it would count twice (checked up to 64 ranks).
  [[nodiscard]] std::optional<SymbolicSum> symbolic_sum_of(const SymbolicSum& a,
                                                           const SymbolicSum& b) const;

 private:
  [[nodiscard]] std::uint64_t word(std::int32_t rank) const;

  CollectiveOperation collective_;
  std::int32_t pieces_;
  std::int32_t block_;  ///< Number of pieces in one rank's block of the buffer.
  bool exact_;
  std::uint64_t all_ = 0;
};

}  // namespace stepwright::collective
