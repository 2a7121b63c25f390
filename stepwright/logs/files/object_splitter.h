#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "stepwright/logs/files/byte_source.h"

namespace stepwright::logs {

/// A piece of text from `{` to the matching `}`, and the line on which it begins.
struct BracedTextObject {
  std::string_view text;
  std::int64_t line = 0;
  bool whole = true;  ///< False if the text ends, or 1 MiB is reached, before the closing brace.
};

/// Passes each outermost {...} of a text to `take`, whatever is between them: lines of JSON, or a
/// list that is not quite JSON. Only braces and quotes are checked.
void stream_outermost_braced_objects(FileByteReader& source,
                                     const std::function<void(const BracedTextObject&)>& take);

}  // namespace stepwright::logs
