#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepwright::mcp {

/// A tool that an AI agent can call through the Model Context Protocol.
struct McpTool {
  std::string name;          ///< Name of the tool: "tune", "list_models".
  std::string description;   ///< Description for the agent: when to call the tool.
  std::string input_schema;  ///< JSON Schema of the tool's arguments, as JSON text.
  /// JSON Schema of the tool's structured answer, as JSON text; empty: the tool answers in plain
  /// text.
  std::string output_schema;
  bool writes = false;  ///< True if the tool can write a file that an argument names.
};

/// The result of one call of a tool by an AI agent.
struct McpToolResult {
  std::string text;  ///< Answer shortened for the agent, or the error message.
  /// Complete answer as JSON; null: there is none.
  std::shared_ptr<const nlohmann::ordered_json> structured;
  bool failed = false;  ///< True if the call failed; `text` then has the reason.
};

/// Callback that runs a tool by name. `arguments`: JSON text of a mapping. Fails with `kInput` for
/// arguments that the tool does not have.
using CallTool =
    std::function<McpToolResult(const std::string& name, const std::string& arguments)>;

}  // namespace stepwright::mcp
