#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/answers/given_file.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stepwright::cli {

/// A command line made from a tool's arguments, and the documents to be read from memory.
struct ToolCommandLine {
  std::vector<std::string> words;
  std::vector<answers::UserFile> texts;
};

/// Returns the name of an option as a tool's argument: "price_per_gpu_hour", "job". A positional
/// argument that takes several values has the plural, "files".
std::string tool_key(const CLI::Option& option);

/// True if an option takes more than one value.
bool takes_several(const CLI::Option& option);

/// True for a flag, an option without a value.
bool is_flag(const CLI::Option& option);

/// Returns the options of a command that its tool offers: all but `excluded` and those that are
/// useful only to people.
std::vector<CLI::Option*> tool_options(CLI::App& command, const std::vector<std::string>& excluded);

/// Converts a tool's arguments (a JSON text) into a command line. A mapping given instead of a path
/// becomes a text that the command reads instead of the file. Fails with `kInput` for an argument
/// that the tool does not have, and for a value of the wrong type.
ToolCommandLine tool_command_line(CLI::App& command, const std::vector<std::string>& excluded,
                                  const std::string& arguments);

}  // namespace stepwright::cli
