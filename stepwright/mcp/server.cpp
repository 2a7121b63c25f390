#include "stepwright/mcp/server.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::mcp {
namespace {

using Json = nlohmann::ordered_json;

/// The newest supported revision; requests name it in `_meta`.
constexpr const char* kRevision = "2026-07-28";
/// Supported revisions that begin with a handshake, newest first.
constexpr const char* kHandshakeRevisions[] = {"2025-11-25", "2025-06-18"};
constexpr const char* kRevisionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
/// Milliseconds for which a client may cache the list of tools, which changes only with the
/// program.
constexpr int kListLife_ms = 3'600'000;

/// Error codes of JSON-RPC 2.0, and the protocol's own code for a revision that the server does not
/// support.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParameters = -32602;
constexpr int kUnsupportedRevision = -32022;

/// An error in the use of the protocol, as opposed to an error of a tool.
struct ProtocolError {
  int code = 0;
  std::string message;
  Json data = nullptr;
};

std::string line_of(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string error_reply(const Json& id, const ProtocolError& error) {
  Json body = {{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}});
}

/// Returns the value of a key; null if the value is no mapping or lacks the key.
Json value_at(const Json& mapping, const char* key) {
  return mapping.is_object() ? mapping.value(key, Json()) : Json();
}

/// Throws `ProtocolError` if a request names a revision that the server does not support.
void check_revision(const Json& parameters) {
  const Json revision = value_at(value_at(parameters, "_meta"), kRevisionKey);
  if (revision.is_null() || revision == kRevision) return;
  throw ProtocolError{kUnsupportedRevision,
                      "Unsupported protocol version",
                      {{"supported", {kRevision}}, {"requested", revision}}};
}

Json card_json(const McpServerDescription& card) {
  return {{"name", card.name}, {"version", card.version}};
}

Json abilities() { return {{"tools", {{"listChanged", false}}}}; }

/// Adds the keys that allow a client to cache a result.
void add_life(Json& result) {
  result["ttlMs"] = kListLife_ms;
  result["cacheScope"] = "public";
}

Json handshake(const McpServerDescription& card, const Json& parameters) {
  const Json asked = value_at(parameters, "protocolVersion");
  const auto known = std::ranges::find_if(kHandshakeRevisions,
                                          [&](const char* revision) { return asked == revision; });
  return {
      {"protocolVersion", known == std::end(kHandshakeRevisions) ? kHandshakeRevisions[0] : *known},
      {"capabilities", abilities()},
      {"serverInfo", card_json(card)},
      {"instructions", card.instructions}};
}

Json discovery(const McpServerDescription& card) {
  Json result = {{"supportedVersions", {kRevision}},
                 {"capabilities", abilities()},
                 {"instructions", card.instructions}};
  add_life(result);
  return result;
}

Json tool_json(const McpTool& tool) {
  Json described = {{"name", tool.name},
                    {"description", tool.description},
                    {"inputSchema", Json::parse(tool.input_schema)}};
  if (!tool.output_schema.empty()) described["outputSchema"] = Json::parse(tool.output_schema);
  described["annotations"] = {{"readOnlyHint", !tool.writes}, {"openWorldHint", false}};
  return described;
}

Json tool_list(const std::vector<McpTool>& tools) {
  Json list = Json::array();
  for (const McpTool& tool : tools) list.push_back(tool_json(tool));
  Json result = {{"tools", std::move(list)}};
  add_life(result);
  return result;
}

Json result_json(const McpToolResult& result) {
  Json text = {{"type", "text"}, {"text", result.text}};
  Json reply = {{"content", Json::array({std::move(text)})}, {"isError", result.failed}};
  if (result.structured != nullptr) reply["structuredContent"] = *result.structured;
  return reply;
}

/// Throws `ProtocolError` if no tool has this name.
void check_tool(const std::vector<McpTool>& tools, const std::string& name) {
  if (std::ranges::find(tools, name, &McpTool::name) != tools.end()) return;
  std::vector<std::string_view> names;
  for (const McpTool& tool : tools) names.push_back(tool.name);
  throw ProtocolError{kInvalidParameters, "there is no tool '" + one_line_printable_text(name) +
                                              "'" + spelling_hint(name, names)};
}

Json call_result(const std::vector<McpTool>& tools, const CallTool& call, const Json& parameters) {
  const Json name = value_at(parameters, "name");
  Json arguments = value_at(parameters, "arguments");
  if (arguments.is_null()) arguments = Json::object();
  if (!name.is_string() || !arguments.is_object()) {
    throw ProtocolError{kInvalidParameters,
                        "tools/call needs name, a text, and arguments, a mapping"};
  }
  check_tool(tools, name.get<std::string>());
  try {
    return result_json(call(name.get<std::string>(), line_of(arguments)));
  } catch (const Error& error) {
    return result_json({.text = error.what(), .structured = {}, .failed = true});
  }
}

}  // namespace

McpServer::McpServer(McpServerDescription card, std::vector<McpTool> tools, CallTool call)
    : card_(std::move(card)), tools_(std::move(tools)), call_(std::move(call)) {}

std::string McpServer::reply_to_mcp_message(std::string_view message) const {
  const Json request = Json::parse(message, nullptr, false);
  if (request.is_discarded()) {
    return error_reply(nullptr, {kParseError, "the message is not JSON on one line"});
  }
  const Json id = value_at(request, "id");
  const Json method = value_at(request, "method");
  if (!method.is_string() || id.is_structured()) {
    return error_reply(nullptr, {kInvalidRequest, "the message is not a request of JSON-RPC 2.0"});
  }
  if (id.is_null()) return "";
  try {
    const Json parameters = value_at(request, "params");
    check_revision(parameters);
    Json result;
    if (method == "initialize") {
      result = handshake(card_, parameters);
    } else if (method == "server/discover") {
      result = discovery(card_);
    } else if (method == "tools/list") {
      result = tool_list(tools_);
    } else if (method == "tools/call") {
      result = call_result(tools_, call_, parameters);
    } else if (method == "ping") {
      result = Json::object();
    } else {
      throw ProtocolError{
          kMethodNotFound,
          "there is no method '" + one_line_printable_text(method.get<std::string>()) + "'"};
    }
    result["resultType"] = "complete";
    result["_meta"] = {{kServerKey, card_json(card_)}};
    return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
  } catch (const ProtocolError& error) {
    return error_reply(id, error);
  }
}

}  // namespace stepwright::mcp
