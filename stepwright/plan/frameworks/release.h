#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepwright::plan {

/// Returns the numbers in a release's name, as 0, 12, 1 for "core_v0.12.1"; empty if there are
/// none.
std::vector<int> numbers_in_release_name(std::string_view release);

/// Returns why a text cannot be a framework release (no number, and not a word for the newest like
/// `main`); empty: it is one.
std::string invalid_release_reason(std::string_view release);

/// True if a release is older than `other`, compared by numbers; a release without numbers counts
/// as the newest.
bool is_earlier_release(std::string_view release, std::string_view other);

/// A range of framework releases, to which a line of a framework's file applies.
struct ReleaseRange {
  std::string from;    ///< First release in the range; empty: no lower end.
  std::string before;  ///< First release after the range; empty: no upper end.
};

/// True if a release is in the range; a release without numbers counts as the newest.
bool range_covers_release(const ReleaseRange& releases, std::string_view release);

}  // namespace stepwright::plan
