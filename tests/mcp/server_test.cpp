#include "stepwright/mcp/server.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"

namespace stepwright::mcp {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

constexpr const char* kSchema = R"({"type": "object", "properties": {"plan": {"type": "string"}}})";

/// Calls a tool that answers with its own arguments, or one that fails.
McpToolResult call(const std::string& name, const std::string& arguments) {
  if (name == "fails") fail_input("plan: is empty");
  if (name == "answers_no") return {.text = "no", .structured = {}, .failed = true};
  return {.text = "short", .structured = std::make_shared<const Json>(Json::parse(arguments))};
}

McpServer server() {
  return {{.name = "planner", .version = "1.2", .instructions = "ask"},
          {{.name = "echo",
            .description = "Echoes.",
            .input_schema = kSchema,
            .output_schema = kSchema},
           {.name = "fails", .description = "", .input_schema = kSchema, .writes = true},
           {.name = "answers_no", .description = "", .input_schema = kSchema}},
          call};
}

Json reply(const Json& request) {
  return Json::parse(server().reply_to_mcp_message(request.dump()));
}

Json asked(const std::string& method, Json parameters = Json::object()) {
  parameters["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
  return {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(parameters)}};
}

TEST(McpServer, DiscoveryNamesTheRevisionAndTheProgram) {
  const Json answer = reply(asked("server/discover"));
  EXPECT_EQ(answer.at("id"), 7);
  const Json& result = answer.at("result");
  EXPECT_EQ(result.at("supportedVersions"), Json({"2026-07-28"}));
  EXPECT_EQ(result.at("resultType"), "complete");
  EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "planner");
  EXPECT_TRUE(result.at("capabilities").contains("tools"));
}

TEST(McpServer, HandshakeTakesTheClientsRevisionWhereItIsKnown) {
  for (const auto& [offered, taken] :
       {std::pair{"2025-06-18", "2025-06-18"}, {"2024-11-05", "2025-11-25"}}) {
    const Json answer = reply({{"jsonrpc", "2.0"},
                               {"id", "a"},
                               {"method", "initialize"},
                               {"params", {{"protocolVersion", offered}}}});
    EXPECT_EQ(answer.at("result").at("protocolVersion"), taken);
    EXPECT_EQ(answer.at("result").at("serverInfo").at("version"), "1.2");
  }
}

TEST(McpServer, ToolsSayWhatTheyTakeAndGive) {
  const Json tools = reply(asked("tools/list")).at("result").at("tools");
  ASSERT_EQ(tools.size(), 3);
  EXPECT_EQ(tools[0].at("inputSchema"), Json::parse(kSchema));
  EXPECT_EQ(tools[0].at("outputSchema"), Json::parse(kSchema));
  EXPECT_EQ(tools[0].at("annotations").at("readOnlyHint"), true);
  EXPECT_FALSE(tools[1].contains("outputSchema"));
  EXPECT_EQ(tools[1].at("annotations").at("readOnlyHint"), false);
}

TEST(McpServer, CallGivesTextAndStructure) {
  const Json result =
      reply(asked("tools/call", {{"name", "echo"}, {"arguments", {{"plan", "p"}}}})).at("result");
  EXPECT_EQ(result.at("content")[0], Json({{"type", "text"}, {"text", "short"}}));
  EXPECT_EQ(result.at("structuredContent"), Json({{"plan", "p"}}));
  EXPECT_EQ(result.at("isError"), false);
}

TEST(McpServer, FailuresOfAToolAreItsAnswer) {
  for (const auto& [name, words] : {std::pair{"fails", "plan: is empty"}, {"answers_no", "no"}}) {
    const Json result = reply(asked("tools/call", {{"name", name}})).at("result");
    EXPECT_EQ(result.at("isError"), true);
    EXPECT_EQ(result.at("content")[0].at("text"), words);
    EXPECT_FALSE(result.contains("structuredContent"));
  }
}

TEST(McpServer, WrongRequestsAreErrorsOfTheProtocol) {
  const auto code = [](const Json& request) { return reply(request).at("error").at("code"); };
  EXPECT_EQ(code(asked("tools/call", {{"name", "ecko"}})), -32602);
  EXPECT_THAT(reply(asked("tools/call", {{"name", "ecko"}})).at("error").at("message"),
              HasSubstr("'echo'"));
  EXPECT_EQ(code(asked("tools/call", {{"name", "echo"}, {"arguments", {1}}})), -32602);
  EXPECT_EQ(code(asked("tools/call")), -32602);
  EXPECT_EQ(code(asked("resources/list")), -32601);
  EXPECT_EQ(code({{"jsonrpc", "2.0"}, {"id", 1}}), -32600);
  EXPECT_EQ(code({1, 2}), -32600);
  const Json broken = Json::parse(server().reply_to_mcp_message("{\"id\": 1"));
  EXPECT_EQ(broken.at("error").at("code"), -32700);
  EXPECT_TRUE(broken.at("id").is_null());
}

TEST(McpServer, AnotherRevisionIsRefusedWithThoseThatAreKnown) {
  Json request = asked("tools/list");
  request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2030-01-01";
  const Json error = reply(request).at("error");
  EXPECT_EQ(error.at("code"), -32022);
  EXPECT_EQ(error.at("data").at("supported"), Json({"2026-07-28"}));
  EXPECT_EQ(error.at("data").at("requested"), "2030-01-01");
}

TEST(McpServer, PingIsAnswered) {
  EXPECT_EQ(reply(asked("ping")).at("result").at("resultType"), "complete");
}

TEST(McpServer, NotificationsHaveNoReply) {
  EXPECT_EQ(
      server().reply_to_mcp_message(R"({"jsonrpc": "2.0", "method": "notifications/initialized"})"),
      "");
}

}  // namespace
}  // namespace stepwright::mcp
