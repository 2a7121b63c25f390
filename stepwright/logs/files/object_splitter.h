#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "stepwright/logs/files/byte_source.h"

namespace stepwright::logs {

/// A mapping of a text, and the line on which it begins.
struct TextObject {
  std::string_view text;
  std::int64_t line = 0;
  bool whole = true;  ///< False: the text ends, or is larger than 1 MiB, before the object does.
};

/// Hands out the outermost {...} of a text, whatever stands between them: lines of JSON, or a list
/// that is not quite JSON. Only braces and quotes are looked at.
void split_objects(ByteSource& source, const std::function<void(const TextObject&)>& take);

}  // namespace stepwright::logs
