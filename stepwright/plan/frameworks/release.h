#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepwright::plan {

/// Returns the numbers in a release's name: 0, 12 and 1 of "core_v0.12.1"; empty if there are none.
std::vector<int> release_numbers(std::string_view release);

/// Returns why a text is not a release: it has no number and is not a word for the newest (`main`).
/// Empty: it is one.
std::string invalid_release_reason(std::string_view release);

/// True if a release is older than another by their numbers; a release without numbers is the
/// newest.
bool is_earlier_release(std::string_view release, std::string_view other);

/// The range of releases to which a line of a framework's file applies.
struct Releases {
  std::string from;    ///< First release of the range; empty: the first of all.
  std::string before;  ///< First release after the range; empty: the range includes the newest.
};

/// True if a release is in the range; a release without numbers is the newest.
bool covers_release(const Releases& releases, std::string_view release);

}  // namespace stepwright::plan
