#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepwright::mcp {

/// A tool that an AI agent can call.
struct Tool {
  std::string name;          ///< Name of the tool: "tune", "list_models".
  std::string description;   ///< Description for the agent: when to call the tool.
  std::string input_schema;  ///< JSON Schema of its arguments, a JSON text.
  /// JSON Schema of its answer, a JSON text; empty: it answers in text.
  std::string output_schema;
  bool writes = false;  ///< True if it can write a file that an argument names.
};

/// The result of one call of a tool.
struct ToolResult {
  std::string text;  ///< Shortened answer, or the message of an error.
  /// Complete answer; null: there is none.
  std::shared_ptr<const nlohmann::ordered_json> structured;
  bool failed = false;  ///< True if the call failed; `text` then has the reason.
};

/// Calls a tool by name. `arguments`: JSON text of a mapping. Fails with `Error` of kind `kInput`
/// for arguments that the tool does not have.
using CallTool = std::function<ToolResult(const std::string& name, const std::string& arguments)>;

}  // namespace stepwright::mcp
