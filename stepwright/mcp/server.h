#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/mcp/tool.h"

namespace stepwright::mcp {

/// The server's name and its instructions for AI agents.
struct ServerCard {
  std::string name;
  std::string version;
  std::string instructions;
};

/// Answers messages of the Model Context Protocol. It offers tools only and keeps no state between
/// messages.
///
/// Supports the revision 2026-07-28, in which each request names its revision, and the handshake
/// (`initialize`) of 2025-11-25 and 2025-06-18. Source: modelcontextprotocol.io/specification.
class Server {
 public:
  Server(ServerCard card, std::vector<Tool> tools, CallTool call);

  /// Returns the reply to a JSON-RPC message as one line without its end; empty: the message is a
  /// notification, which needs no reply. A wrong message gets a JSON-RPC error as its reply.
  [[nodiscard]] std::string reply_to(std::string_view message) const;

 private:
  ServerCard card_;
  std::vector<Tool> tools_;
  CallTool call_;
};

}  // namespace stepwright::mcp
