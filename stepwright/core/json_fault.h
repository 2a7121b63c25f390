#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepwright {

/// The first place at which a text is no JSON.
struct JsonFault {
  std::size_t offset = 0;  ///< Bytes from the start of the text; its size: the text ends too early.
  std::string text;        ///< The fault, and what is allowed there. Empty: the text is JSON.
};

/// Finds the first fault of a text that should be one JSON value: strict JSON without comments,
/// trailing commas or NaN, whose numbers a double holds. Nesting deeper than `kDeepestNesting` is a
/// fault. The text must be UTF-8.
JsonFault json_fault(std::string_view text);

/// Throws `kInput` with `file:line:column` for a text that a parser does not take as JSON: its
/// first fault; where it has none, `otherwise`.
[[noreturn]] void fail_at_json_fault(const std::string& file, std::string_view text,
                                     std::string_view otherwise);

}  // namespace stepwright
