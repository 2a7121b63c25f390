#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// The content of a piece of memory: pieces of inputs at one place of the buffer, added up.
struct Contributions {
  std::int64_t place = -1;  ///< Which piece of the collective's data; -1: nothing.
  /// Ranks that contributed: bits, or beyond 64 ranks a sum of random numbers.
  std::uint64_t ranks = 0;

  bool operator==(const Contributions&) const = default;
};

/// The start and the promised end of a collective.
class Promise {
 public:
  explicit Promise(const CollectiveSchedule& schedule);

  /// A piece of a rank's input.
  [[nodiscard]] Contributions given(std::int32_t rank, std::int32_t piece) const;
  /// A piece of a rank's output; nothing: it may hold anything.
  [[nodiscard]] std::optional<Contributions> due(std::int32_t rank, std::int32_t piece) const;
  /// The sum of two; nullopt if they are of different places or share a contribution.
  [[nodiscard]] std::optional<Contributions> sum(const Contributions& a,
                                                 const Contributions& b) const;

 private:
  [[nodiscard]] std::uint64_t word(std::int32_t rank) const;

  Collective collective_;
  std::int32_t pieces_;
  std::int32_t block_;  ///< Pieces of a rank's block.
  bool exact_;
  std::uint64_t all_ = 0;
};

}  // namespace stepwright::collective
