#pragma once

#include <string>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// Parses a TOML text into a document with lines and columns. `name` is its name in messages. Fails
/// with `kInput` for malformed TOML, with the position, and for dates, infinities and NaN.
Document parse_toml(std::string_view text, const std::string& name);

}  // namespace stepwright::framework_files
