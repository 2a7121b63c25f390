#pragma once

#include <string>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// Parses TOML into a document that keeps line and column of each value. `name` is the file's name
/// in messages. Fails with `kInput` for malformed TOML, dates, infinities and NaN.
YamlJsonDocument parse_toml(std::string_view text, const std::string& name);

}  // namespace stepwright::framework_files
