#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// The symbolic content of a piece of memory: the sum of several ranks' input pieces at one index
/// of the buffer.
struct Contributions {
  std::int64_t place = -1;  ///< Index of the piece in the collective's buffer; -1: nothing.
  /// Ranks that contributed: a bit each, or for more than 64 ranks the sum of a random number for
  /// each.
  std::uint64_t ranks = 0;

  bool operator==(const Contributions&) const = default;
};

/// The inputs and the required outputs of a collective.
class CollectiveContract {
 public:
  explicit CollectiveContract(const CollectiveSchedule& schedule);

  /// Returns the content of a piece of a rank's input.
  [[nodiscard]] Contributions given(std::int32_t rank, std::int32_t piece) const;
  /// Returns the content required of a piece of a rank's output; nullopt: it may be anything.
  [[nodiscard]] std::optional<Contributions> due(std::int32_t rank, std::int32_t piece) const;
  /// Returns the sum of two contents; nullopt if their indices differ or a rank contributed to
  /// both.
  [[nodiscard]] std::optional<Contributions> sum(const Contributions& a,
                                                 const Contributions& b) const;

 private:
  [[nodiscard]] std::uint64_t word(std::int32_t rank) const;

  Collective collective_;
  std::int32_t pieces_;
  std::int32_t block_;  ///< Number of pieces of a rank's block.
  bool exact_;
  std::uint64_t all_ = 0;
};

}  // namespace stepwright::collective
