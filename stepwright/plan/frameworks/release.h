#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepwright::plan {

/// The numbers of a release: 0, 12 and 1 of "core_v0.12.1"; none of a text without any.
std::vector<int> release_numbers(std::string_view release);

/// Why a text names no release: it has neither a number nor is a word for the newest (`main`).
/// Empty: it names one.
std::string fault_of_release(std::string_view release);

/// Whether a release comes before another by their numbers; one without numbers is the newest.
bool comes_before(std::string_view release, std::string_view other);

/// The releases of which a line of a framework's file speaks.
struct Releases {
  std::string from;    ///< First release that it holds for; empty: the first of all.
  std::string before;  ///< Release before which it holds; empty: up to the newest.
};

/// Whether a release is one of them; one without numbers is the newest.
bool speaks_of(const Releases& releases, std::string_view release);

}  // namespace stepwright::plan
