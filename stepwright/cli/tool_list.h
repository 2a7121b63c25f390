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

/// A command of this program that AI agents can call as a tool.
struct AgentToolCommand {
  std::string command;
  std::string when;  ///< When an agent should call the tool: the question that it answers.
  /// Names of the JSON schemas in docs/schemas/ that describe the tool's answers; empty: the tool
  /// answers in text.
  std::vector<std::string> schemas;
  std::vector<std::string> excluded;  ///< Options of the command that agents cannot use.
};

/// Returns the commands that AI agents can call as tools. Commands that start programs or open
/// sockets are left out.
std::span<const AgentToolCommand> agent_tool_commands();

/// Returns the descriptions of all tools for AI agents; their arguments come from the commands'
/// options.
std::vector<mcp::McpTool> agent_tool_descriptions(CLI::App& program);

}  // namespace stepwright::cli
