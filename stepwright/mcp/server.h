#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/mcp/tool.h"

namespace stepwright::mcp {

/// Description that the Model Context Protocol server gives of itself: name, version and
/// instructions for AI agents.
struct McpServerDescription {
  std::string name;
  std::string version;
  std::string instructions;
};

/// The server of the Model Context Protocol, through which AI agents call Stepwright's tools. It
/// keeps no state between messages.
///
/// It supports the revision 2026-07-28, in which each request names its revision, and the handshake
/// (`initialize`) of 2025-11-25 and 2025-06-18. Source: modelcontextprotocol.io/specification.
class McpServer {
 public:
  McpServer(McpServerDescription card, std::vector<McpTool> tools, CallTool call);

  /// Returns the reply of the Model Context Protocol server to a JSON-RPC message, as one line
  /// without its end; empty: the message is a notification and needs no reply. A malformed message
  /// is answered with a JSON-RPC error.
  [[nodiscard]] std::string reply_to_mcp_message(std::string_view message) const;

 private:
  McpServerDescription card_;
  std::vector<McpTool> tools_;
  CallTool call_;
};

}  // namespace stepwright::mcp
