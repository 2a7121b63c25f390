#pragma once

#include <string>
#include <string_view>

namespace stepwright {

/// Recognises files that are not UTF-8 text by their first bytes (`start`; 512 bytes suffice).
/// Returns the kind and how to turn the file into text: "is a gzip file: unpack it first (gunzip <
/// plan.gz > FILE)"; empty if the file may be text. `name`: the file's path.
std::string non_text_file_kind(std::string_view start, std::string_view name);

}  // namespace stepwright
