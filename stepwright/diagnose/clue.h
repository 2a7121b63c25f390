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

/// How findings from clues are ordered among the findings of a job.
enum class ClueRank : std::uint8_t {
  kRoot,     ///< A root cause: no other line of a log explains it.
  kNetwork,  ///< It may be a consequence of a rank that ended.
  kFollows,  ///< Reported only if no other cause is known.
};

/// A row of `clues.yaml`: a fault that lines of libraries, drivers or schedulers state by
/// themselves.
struct ClueKind {
  std::string reason;  ///< Key in `advice.yaml` of the fault's causes and remedies.
  FindingKind kind{};
  ClueRank rank{};
  std::string what;  ///< Description of the fault, in one sentence.
  /// Alternatives: a line is a clue if it contains all words of one of these lists.
  std::vector<std::vector<std::string>> lines;
};

/// Returns all rows of `clues.yaml`, in the order in which a line is compared with them.
std::span<const ClueKind> clue_kinds();

/// Returns the first row of `clues.yaml` that a line matches; null: none.
const ClueKind* find_clue_kind(std::string_view line);

/// The lines of a job's files that match rows of `clues.yaml`, grouped by row.
class Clues {
 public:
  /// Stores a line if it is a clue, and returns whether it is one. `rank`: the rank that wrote the
  /// line; negative: unknown.
  bool add(std::string_view line, const std::string& file, std::int64_t number, std::int64_t rank);

  /// Returns one finding for each row of `clues.yaml` with this `ClueRank` that has matching lines,
  /// in the order of the first lines.
  [[nodiscard]] std::vector<Finding> findings(ClueRank rank) const;

 private:
  struct Sighting {
    const ClueKind* kind = nullptr;
    Place first;
    /// The first few matching lines, each with file and line number.
    std::vector<std::string> texts;
    std::set<std::int64_t> ranks;
    std::int64_t lines = 0;
  };
  std::vector<Sighting> sightings_;
};

}  // namespace stepwright::diagnose
