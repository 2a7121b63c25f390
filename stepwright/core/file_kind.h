#pragma once

#include <string>
#include <string_view>

namespace stepwright {

/// Recognises files that are not UTF-8 text by their first bytes (`start`; 512 suffice). Returns
/// their kind and how to turn them into text: "is a gzip file: unpack it first (gunzip < plan.gz >
/// FILE)"; empty: the file may be text. `name`: path of the file.
std::string non_text_file_kind(std::string_view start, std::string_view name);

}  // namespace stepwright
