#pragma once

#include <string>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// Reads a TOML text as a document with lines and columns. `name` stands for it in messages. Fails
/// with `kInput` on malformed TOML, naming the place, and on dates, infinities and NaN.
Document parse_toml(std::string_view text, const std::string& name);

}  // namespace stepwright::framework_files
