#pragma once

#include <string_view>
#include <vector>

namespace stepwright {

/// The numbers of a release: 0, 12 and 1 of "core_v0.12.1"; none of a text without any.
std::vector<int> release_numbers(std::string_view release);

/// Whether a release comes before another by their numbers; one without numbers is the newest.
bool comes_before(std::string_view release, std::string_view other);

}  // namespace stepwright
