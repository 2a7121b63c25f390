#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepwright::answers {

/// Returns the text of a document, indented, with a newline at its end.
std::string json_text(const nlohmann::ordered_json& json);

/// Asks whether a file can be written, before the work starts: fails with `kRuntime` when an output
/// file cannot be written, with `kInput` when it is the input file itself.
void check_output(const std::string& output, const std::string& input);

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its name
/// and the mode of the file that it replaces. A symbolic link stays, and its target is replaced.
/// Pipes and devices such as /dev/stdout are written to directly. Fails with `kRuntime` when
/// it cannot be written; then nothing is left behind.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace stepwright::answers
