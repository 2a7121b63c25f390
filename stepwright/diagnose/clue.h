#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// Places of clues among findings.
enum class ClueRank : std::uint8_t {
  kRoot,     ///< A cause that no other line of a log explains.
  kNetwork,  ///< It may follow from a rank that ended.
  kFollows,  ///< Said only where nothing else is known.
};

/// Lines of libraries, drivers and schedulers that say by themselves what went wrong: a row of
/// `clues.yaml`.
struct ClueKind {
  std::string reason;  ///< A key of `advice.yaml`.
  FindingKind kind{};
  ClueRank rank{};
  std::string what;                             ///< Description of the fault, in one sentence.
  std::vector<std::vector<std::string>> lines;  ///< A line holds all words of one of these.
};

/// All rows, in the order in which a line is compared with them.
std::span<const ClueKind> clue_kinds();

/// The row that a line belongs to; null where it is none.
const ClueKind* clue_of(std::string_view line);

/// Lines of a job's files that are clues, by their row.
class Clues {
 public:
  /// Adds a line where it is a clue. `rank`: who wrote it; negative: unknown. True: it is one.
  bool add(std::string_view line, const std::string& file, std::int64_t number, std::int64_t rank);

  /// A finding for each row of that place that has lines, in the order of their first lines.
  [[nodiscard]] std::vector<Finding> findings(ClueRank rank) const;

 private:
  struct Sighting {
    const ClueKind* kind = nullptr;
    Place first;
    std::vector<std::string> texts;  ///< The first lines, with their places.
    std::set<std::int64_t> ranks;
    std::int64_t lines = 0;
  };
  std::vector<Sighting> sightings_;
};

}  // namespace stepwright::diagnose
