#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright {

/// The most characters of a name, and of a path.
inline constexpr std::size_t kLongestName = 200;
inline constexpr std::size_t kLongestPath = 4096;

/// Says what a name must be where a text is none, with the text; empty if it is one. A name is one
/// line of UTF-8 without control characters and marks that reorder text (`find_unprintable`).
std::string fault_of_name(std::string_view text, std::size_t longest = kLongestName);

/// Reads a scalar that names something: a model, a device, a level, a path. Fails with `kInput`,
/// naming the place, where it is no name.
std::string read_name(Node node, std::size_t longest = kLongestName);

}  // namespace stepwright
