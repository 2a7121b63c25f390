#include "stepwright/cli/tool_list.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stepwright/cli/file_option.h"
#include "stepwright/cli/tool_words.h"
#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/scalar.h"

namespace stepwright::cli {

/// Returns the files of docs/schemas/, which are compiled in.
std::span<const EmbeddedFile> embedded_schemas();
/// Returns the file tools.yaml, which is compiled in.
std::span<const EmbeddedFile> embedded_tools();

namespace {

using Json = nlohmann::ordered_json;

/// The bounds of a number, read from the description of an option's type, "INT in [1 - 64]".
struct Bounds {
  std::optional<double> low;
  std::optional<double> high;
  bool above = false;  ///< True if `low` itself is not allowed.
};

Bounds bounds_of(const std::string& type) {
  const std::size_t begin = type.find(" in ");
  if (begin == std::string::npos) return {};
  const std::size_t middle = type.find(" - ", begin);
  const std::size_t end = type.find(']', begin);
  constexpr std::size_t kBefore = 5;  // " in ["
  if (middle == std::string::npos || end == std::string::npos) return {};
  return {.low = read_double(type.substr(begin + kBefore, middle - begin - kBefore)),
          .high = read_double(type.substr(middle + 3, end - middle - 3)),
          .above = type[begin + kBefore - 1] == '('};
}

/// Returns the words in a type such as "TEXT:{a,b,c}"; empty: any text is allowed.
std::vector<std::string> words_in(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

Json number_json(double number, bool whole) {
  return whole ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

/// Returns the JSON schema of one value of an option.
Json value_schema(CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (const std::vector<std::string> words = words_in(type); !words.empty()) {
    return {{"type", "string"}, {"enum", words}};
  }
  const bool whole = type.find("INT in ") != std::string::npos;
  if (!whole && type.find("FLOAT in ") == std::string::npos) {
    if (is_document_option(option)) return {{"type", {"string", "object"}}};
    return {{"type", {"string", "number"}}};
  }
  const Bounds bounds = bounds_of(type);
  Json schema = {{"type", whole ? "integer" : "number"}};
  if (bounds.low) {
    schema[bounds.above ? "exclusiveMinimum" : "minimum"] = number_json(*bounds.low, whole);
  }
  if (bounds.high) schema["maximum"] = number_json(*bounds.high, whole);
  return schema;
}

std::string description_of(CLI::Option& option) {
  std::string text = option.get_description();
  std::ranges::replace(text, '\n', ' ');
  if (is_document_option(option)) text += " (a path, or the document itself as a mapping)";
  return text;
}

Json argument_schema(CLI::Option& option) {
  Json schema;
  if (is_flag_option(option)) {
    schema["type"] = "boolean";
  } else if (takes_several_values(option)) {
    schema = {{"type", "array"}, {"items", value_schema(option)}};
    if (option.get_required()) schema["minItems"] = 1;
  } else {
    schema = value_schema(option);
  }
  schema["description"] = description_of(option);
  return schema;
}

Json input_schema(const std::vector<CLI::Option*>& options) {
  Json properties = Json::object();
  Json required = Json::array();
  for (CLI::Option* option : options) {
    properties[agent_tool_argument_name(*option)] = argument_schema(*option);
    if (option->get_required()) required.push_back(agent_tool_argument_name(*option));
  }
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Json file_schema(const std::string& name) {
  return Json::parse(find_embedded_file(embedded_schemas(), name)->text);
}

/// Returns the schema of a tool's answer, a mapping; a list becomes its member `list`.
Json output_schema(const std::vector<std::string>& names) {
  Json first = file_schema(names.front());
  const bool lists = first.value("type", "") == "array";
  Json schema;
  if (names.size() == 1) {
    schema = std::move(first);
  } else {
    Json any = Json::array();
    for (const std::string& name : names) {
      Json one = file_schema(name);
      one["$id"] = "urn:stepwright:" + name;  // so that references inside this schema refer to it
      any.push_back(std::move(one));
    }
    schema["anyOf"] = std::move(any);
  }
  if (lists) {
    schema = {{"type", "object"},
              {"properties", {{"list", std::move(schema)}}},
              {"required", {"list"}},
              {"additionalProperties", false}};
  }
  schema["type"] = "object";
  return schema;
}

mcp::McpTool tool_of(CLI::App& program, const AgentToolCommand& row) {
  CLI::App& command = *program.get_subcommand(row.command);
  const std::vector<CLI::Option*> options = agent_tool_options(command, row.excluded);
  return {
      .name = row.command,
      .description = fmt::format("{}. {}", command.get_description(), row.when),
      .input_schema = input_schema(options).dump(),
      .output_schema = row.schemas.empty() ? "" : output_schema(row.schemas).dump(),
      .writes = std::ranges::any_of(options, [](CLI::Option* o) { return is_output_option(*o); })};
}

/// Returns the texts of a list; none if the list is absent.
std::vector<std::string> texts_in(const std::optional<DocumentNode>& list) {
  return list ? list->as_text_list() : std::vector<std::string>{};
}

std::vector<AgentToolCommand> read_tool_commands() {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(embedded_tools().front().text, "tools.yaml");
  std::vector<AgentToolCommand> commands;
  for (std::size_t i = 0; i < document.root().size(); ++i) {
    const DocumentNode row = document.root().at(i);
    commands.push_back({.command = row.get("command").text(),
                        .when = row.get("when").text(),
                        .schemas = texts_in(row.find("schemas")),
                        .excluded = texts_in(row.find("excluded"))});
  }
  return commands;
}

}  // namespace

std::span<const AgentToolCommand> agent_tool_commands() {
  static const std::vector<AgentToolCommand> kCommands = read_tool_commands();
  return kCommands;
}

std::vector<mcp::McpTool> agent_tool_descriptions(CLI::App& program) {
  std::vector<mcp::McpTool> tools;
  for (const AgentToolCommand& row : agent_tool_commands()) tools.push_back(tool_of(program, row));
  return tools;
}

}  // namespace stepwright::cli
