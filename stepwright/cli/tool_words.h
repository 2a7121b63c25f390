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

/// The arguments of a command line, and the documents that stand in memory.
struct ToolWords {
  std::vector<std::string> words;
  std::vector<answers::GivenFile> texts;
};

/// The key of an option in the arguments of a tool: "price_per_gpu_hour", "job"; of an argument
/// without a name that takes several values its plural, "files".
std::string tool_key(const CLI::Option& option);

/// True if an option takes more than one value.
bool takes_several(const CLI::Option& option);

/// True for a flag, which takes no value.
bool is_flag(const CLI::Option& option);

/// The options of a command that a tool has, without `excluded` and those that only people need.
std::vector<CLI::Option*> tool_options(CLI::App& command, const std::vector<std::string>& excluded);

/// Returns the command line that gives a command the arguments of a tool, a JSON text. A mapping in
/// place of a path becomes a text that the command reads in its place. Fails with `kInput` for an
/// argument that the tool does not have, and for a value of the wrong type.
ToolWords tool_words(CLI::App& command, const std::vector<std::string>& excluded,
                     const std::string& arguments);

}  // namespace stepwright::cli
