#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepwright {

/// The first position at which a text is not valid JSON, and why.
struct JsonFault {
  /// Position of the fault in bytes from the start; the text's size: the text ends too early.
  std::size_t offset = 0;
  /// Description of the fault and of what is allowed there; empty: the text is valid JSON.
  std::string text;
};

/// Finds the first fault in a UTF-8 text that should be one strict JSON value: no comments,
/// trailing commas or NaN, numbers that a double can hold, at most `kMaxDocumentNestingDepth`
/// levels.
JsonFault find_json_fault(std::string_view text);

/// Throws an error of kind `kInput` with `file:line:column` for a text that a JSON parser refused.
/// The message is the text's first fault, or `otherwise` if the text is valid JSON.
[[noreturn]] void fail_at_json_fault(const std::string& file, std::string_view text,
                                     std::string_view otherwise);

}  // namespace stepwright
