#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepwright {

/// The first position at which a text is not valid JSON.
struct JsonFault {
  /// Bytes from the start of the text; the text's size: it ends too early.
  std::size_t offset = 0;
  std::string text;  ///< The fault, and what is allowed there. Empty: the text is JSON.
};

/// Finds the first fault of a text that should be one JSON value: strict JSON without comments,
/// trailing commas or NaN, with numbers that a double can hold. Nesting deeper than
/// `kMaxNesting` is a fault. The text must be UTF-8.
JsonFault json_fault(std::string_view text);

/// Throws an error of kind `kInput` with `file:line:column` for a text that a parser refused as
/// JSON. The message is the text's first fault, or `otherwise` if `json_fault` finds none.
[[noreturn]] void fail_at_json_fault(const std::string& file, std::string_view text,
                                     std::string_view otherwise);

}  // namespace stepwright
