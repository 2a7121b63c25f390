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

/// A command that AI agents can call as a tool.
struct ToolCommand {
  std::string command;
  std::string when;  ///< Question for which an agent should call the tool.
  /// Files of docs/schemas/ that describe its answers; empty: it answers in text.
  std::vector<std::string> schemas;
  std::vector<std::string> excluded;  ///< Options of the command that the tool does not offer.
};

/// Returns all commands that are tools. Commands that start programs or open sockets are not.
std::span<const ToolCommand> tool_commands();

/// Returns the descriptions of all tools; their arguments come from the commands' options.
std::vector<mcp::Tool> tool_list(CLI::App& program);

}  // namespace stepwright::cli
