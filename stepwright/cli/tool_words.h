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

/// A command line made from an agent's tool call, with documents that the command reads from
/// memory.
struct AgentToolCommandLine {
  std::vector<std::string> words;
  std::vector<answers::UserFile> texts;
};

/// Returns the name that an option has as an argument of an agent's tool: "price_per_gpu_hour",
/// "job". A positional argument that takes several values has the plural, "files".
std::string agent_tool_argument_name(const CLI::Option& option);

/// True if an option accepts more than one value.
bool takes_several_values(const CLI::Option& option);

/// True if an option is a flag: it takes no value.
bool is_flag_option(const CLI::Option& option);

/// Returns the options of a command that agents can use in its tool: all except `excluded` and
/// those that are useful only to people (help, json, verbose).
std::vector<CLI::Option*> agent_tool_options(CLI::App& command,
                                             const std::vector<std::string>& excluded);

/// Converts the arguments of an agent's tool call (a JSON text) into a command line. Where a
/// document is expected, a mapping may replace the path, and the command reads it from memory.
/// Fails with `kInput` for unknown arguments and for values of a wrong type.
AgentToolCommandLine agent_tool_command_line(CLI::App& command,
                                             const std::vector<std::string>& excluded,
                                             const std::string& arguments);

}  // namespace stepwright::cli
