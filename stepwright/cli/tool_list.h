#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/mcp/tool.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// A command that agents can call as a tool.
struct ToolCommand {
  std::string command;
  std::string when;                   ///< The question that it answers.
  std::vector<std::string> schemas;   ///< Files of docs/schemas/; none: it answers in text.
  std::vector<std::string> excluded;  ///< Options that a tool does not have.
};

/// All of them. Commands that start programs or open sockets are no tools.
std::span<const ToolCommand> tool_commands();

/// The tools of the program, their arguments as its options say them.
std::vector<mcp::Tool> tool_list(CLI::App& program);

}  // namespace stepwright::cli
