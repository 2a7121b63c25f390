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

/// How findings from log lines that `clues.yaml` recognises are ordered among all findings of a
/// job.
enum class FaultLinePriority : std::uint8_t {
  kRoot,     ///< A root cause, which no other line of a log explains.
  kNetwork,  ///< A fault that may be only a consequence of a rank that ended.
  kFollows,  ///< A consequence, reported only if no other cause is known.
};

/// A row of `clues.yaml`: a fault that a log line of a library, driver or scheduler states by
/// itself.
struct FaultLinePattern {
  std::string reason;  ///< Key in `advice.yaml` of the fault's usual causes and remedies.
  DiagnosedFaultKind kind{};
  FaultLinePriority rank{};
  /// Description of the fault that such log lines show, in one sentence.
  std::string what;
  /// Lists of words; a log line shows the fault if it contains all words of one list.
  std::vector<std::vector<std::string>> lines;
};

/// Returns all rows of `clues.yaml`. A log line counts for the first row that it matches.
std::span<const FaultLinePattern> fault_line_patterns();

/// Returns the first row of `clues.yaml` that a log line matches; null: none.
const FaultLinePattern* match_log_line_to_fault_pattern(std::string_view line);

/// Log lines of a job that state a fault (rows of `clues.yaml`), grouped by fault.
class FaultLogLines {
 public:
  /// Stores a log line if it states a fault, and returns true if it does. `number`: line number;
  /// `rank`: rank that wrote the line, negative if unknown.
  bool add(std::string_view line, const std::string& file, std::int64_t number, std::int64_t rank);

  /// Returns one finding for each fault of priority `rank` that log lines state, in the order of
  /// their first lines.
  [[nodiscard]] std::vector<FaultFinding> findings(FaultLinePriority rank) const;

 private:
  struct Sighting {
    const FaultLinePattern* kind = nullptr;
    FaultPlace first;
    /// The first few log lines that state the fault, each with file and line number.
    std::vector<std::string> texts;
    std::set<std::int64_t> ranks;
    std::int64_t lines = 0;
  };
  std::vector<Sighting> sightings_;
};

}  // namespace stepwright::diagnose
