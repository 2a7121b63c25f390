#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright {

/// The most characters of a name, and of a path.
inline constexpr std::size_t kMaxNameLength = 200;
inline constexpr std::size_t kLongestPath = 4096;

/// Checks a name. Returns what a name must be, and the text, if the text is not a valid name; empty
/// if it is. A name is one line of UTF-8 without control characters and marks that reorder text
/// (`find_unprintable`).
std::string invalid_name_reason(std::string_view text, std::size_t longest = kMaxNameLength);

/// Reads a scalar that is a name: of a model, a device, a level, a path. Fails with `kInput`,
/// naming the position in the file, if it is not a valid name.
std::string read_name(Node node, std::size_t longest = kMaxNameLength);

}  // namespace stepwright
