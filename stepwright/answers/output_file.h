#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepwright::answers {

/// Returns the text of a document, indented, with a newline at its end.
std::string json_text(const nlohmann::ordered_json& json);

/// Asks whether a file can be written, before the work starts: fails with `kRuntime` when an output
/// file cannot be written, with `kInput` when it is the input file itself.
void check_output(const std::string& output, const std::string& input);

}  // namespace stepwright::answers
