#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/cli/command_line.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/tool_list.h"
#include "stepwright/cli/tool_words.h"
#include "stepwright/mcp/channel.h"
#include "stepwright/mcp/server.h"
#include "stepwright/mcp/short_text.h"

namespace stepwright::cli {
namespace {

constexpr const char* kInstructions =
    "Stepwright predicts memory, step time and traffic of large-model training and finds parallel "
    "plans. Nothing is executed and nothing leaves the machine. Never guess memory or step time: "
    "call check for a launch script, tune for a new job, predict with set for what-ifs. Always "
    "report the interval (low_s, high_s) and p_fits with a prediction, and what not_read lists as "
    "mattering. Ask the person for the cluster. A result's text is short; structuredContent is the "
    "whole answer. Paths are relative to the folder in which the server was started.";

using Json = nlohmann::ordered_json;

/// Returns the answer of a command as a mapping; a list becomes its member `list`.
Json as_mapping(const std::string& answer) {
  Json json = Json::parse(answer);
  return json.is_array() ? Json{{"list", std::move(json)}} : json;
}

mcp::McpToolResult called(CLI::App& program, const std::string& name,
                          const std::string& arguments) {
  const auto row = std::ranges::find(agent_tool_commands(), name, &AgentToolCommand::command);
  const AgentToolCommandLine given =
      agent_tool_command_line(*program.get_subcommand(name), row->excluded, arguments);
  std::vector<std::string> words = {name};
  if (!row->schemas.empty()) words.emplace_back("--json");
  words.insert(words.end(), given.words.begin(), given.words.end());

  std::string said;
  const Logger log([&](const std::string& level, const std::string& text) {
    said += fmt::format("{}{}\n", level == "warning" ? "warning: " : "", text);
  });
  std::ostringstream out;
  const int code = run_command_exit_code(words, {.out = out, .log = log, .texts = given.texts});
  const std::string answer = out.str();
  if (code != 0 && answer.empty()) return {.text = said, .structured = {}, .failed = true};
  if (row->schemas.empty() || answer.empty()) return {.text = said + answer};
  const auto whole = std::make_shared<const Json>(as_mapping(answer));
  return {.text = said + mcp::json_answer_for_ai_agent(*whole), .structured = whole};
}

class Mcp : public Subcommand {
 public:
  explicit Mcp(CLI::App& program)
      : Subcommand(program, "mcp",
                   "Answer agents over the Model Context Protocol, on standard input and output",
                   "  stepwright mcp"),
        program_(program) {}

  void run_subcommand(const Console& /*console*/) override {
    const mcp::McpServer server(
        {.name = "stepwright", .version = STEPWRIGHT_VERSION, .instructions = kInstructions},
        agent_tool_descriptions(program_),
        [this](const std::string& name, const std::string& arguments) {
          return called(program_, name, arguments);
        });
    mcp::StandardStreamsChannel channel;
    while (const auto line = channel.wait_for_next_line()) {
      if (line->empty()) continue;
      const std::string reply = server.reply_to_mcp_message(*line);
      if (!reply.empty() && !channel.write_line(reply)) return;
    }
  }

 private:
  CLI::App& program_;
};

}  // namespace

std::unique_ptr<Subcommand> mcp_command(CLI::App& program) {
  return std::make_unique<Mcp>(program);
}

}  // namespace stepwright::cli
