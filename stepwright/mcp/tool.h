#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepwright::mcp {

/// A tool that an agent can call.
struct Tool {
  std::string name;          ///< Name of the tool: "tune", "list_models".
  std::string description;   ///< When to call it, for the agent.
  std::string input_schema;  ///< JSON Schema of its arguments, a JSON text.
  std::string
      output_schema;    ///< JSON Schema of its answer, a JSON text; empty: it answers in text.
  bool writes = false;  ///< True if an argument can name a file that it writes.
};

/// The result of one call of a tool.
struct ToolResult {
  std::string text;  ///< The short answer, or the message of an error.
  /// The whole answer; null: none.
  std::shared_ptr<const nlohmann::ordered_json> structured;
  bool failed = false;  ///< True if there is no answer, and `text` says why.
};

/// Calls the tool of a name with its arguments, the JSON text of a mapping. Fails with `Error` of
/// kind `kInput` for arguments that the tool does not have.
using CallTool = std::function<ToolResult(const std::string& name, const std::string& arguments)>;

}  // namespace stepwright::mcp
