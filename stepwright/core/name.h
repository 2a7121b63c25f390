#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright {

/// Longest name in a file, in characters; `kLongestPath`: longest path.
inline constexpr std::size_t kMaxNameLength = 200;
inline constexpr std::size_t kLongestPath = 4096;

/// Checks that a text is a valid name: one line of UTF-8 without control characters or marks that
/// reorder text, of at most `longest` characters. Returns what is wrong, quoting the text; empty:
/// the name is valid.
std::string invalid_name_reason(std::string_view text, std::size_t longest = kMaxNameLength);

/// Reads a name (of a model, a device, a level, a path) from a value of a file. Fails with
/// `kInput`, naming the position, if it is not valid (`invalid_name_reason`).
std::string read_name(DocumentNode node, std::size_t longest = kMaxNameLength);

}  // namespace stepwright
