#include "stepwright/cli/tool_list.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stepwright/cli/file_option.h"
#include "stepwright/cli/tool_words.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/scalar.h"

namespace stepwright::cli {

/// The files of docs/schemas/.
std::span<const EmbeddedFile> embedded_schemas();

namespace {

using Json = nlohmann::ordered_json;

/// Options of a command that run the person's own script.
const std::vector<std::string> kCapturing = {"capture", "only-launchers", "gpus-per-node",
                                             "timeout"};

/// The numbers between "[" and "]" of the description of an option's type, "INT in [1 - 64]".
struct Bounds {
  std::optional<double> low;
  std::optional<double> high;
  bool above = false;  ///< True if `low` itself is refused.
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

/// The words of "TEXT:{a,b,c}"; empty: any.
std::vector<std::string> words_in(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

Json number_json(double number, bool whole) {
  return whole ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

/// The schema of one value of an option.
Json value_schema(CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (const std::vector<std::string> words = words_in(type); !words.empty()) {
    return {{"type", "string"}, {"enum", words}};
  }
  const bool whole = type.find("INT in ") != std::string::npos;
  if (!whole && type.find("FLOAT in ") == std::string::npos) {
    if (is_document(option)) return {{"type", {"string", "object"}}};
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
  if (is_document(option)) text += " (a path, or the document itself as a mapping)";
  return text;
}

Json argument_schema(CLI::Option& option) {
  Json schema;
  if (is_flag(option)) {
    schema["type"] = "boolean";
  } else if (takes_several(option)) {
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
    properties[tool_key(*option)] = argument_schema(*option);
    if (option->get_required()) required.push_back(tool_key(*option));
  }
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Json file_schema(const std::string& name) {
  return Json::parse(find_embedded(embedded_schemas(), name)->text);
}

/// The schema of a tool's answer: a mapping, in which a list stands under `list`.
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
      one["$id"] = "urn:stepwright:" + name;  // so that its references mean itself
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

mcp::Tool tool_of(CLI::App& program, const ToolCommand& row) {
  CLI::App& command = *program.get_subcommand(row.command);
  const std::vector<CLI::Option*> options = tool_options(command, row.excluded);
  return {.name = row.command,
          .description = fmt::format("{}. {}", command.get_description(), row.when),
          .input_schema = input_schema(options).dump(),
          .output_schema = row.schemas.empty() ? "" : output_schema(row.schemas).dump(),
          .writes = std::ranges::any_of(options, [](CLI::Option* o) { return is_output(*o); })};
}

}  // namespace

std::span<const ToolCommand> tool_commands() {
  static const std::array kCommands = {
      ToolCommand{
          "init",
          "A new job file from a model, a cluster, a number of GPUs and a batch; give it to "
          "tune.",
          {"init"},
          {}},
      ToolCommand{"tune",
                  "Which parallel configuration is best for this model on this cluster? Never by "
                  "rule of thumb. Tell `verdict`, `p_fits`, `low_s` and `high_s` with the time.",
                  {"tune", "tune-runs"},
                  {}},
      ToolCommand{"predict",
                  "How long a step of a plan takes, where the time goes, whether it fits; with "
                  "`set` before and after a change.",
                  {"predict"},
                  {}},
      ToolCommand{"memory", "What fills the memory of each pipeline stage.", {"memory"}, {}},
      ToolCommand{"check",
                  "Before a job is queued: will this launch script or configuration start and "
                  "fit, how long does a step take, and what would be better? `fault` is null where "
                  "it should be queued; read `not_read` before you trust a number. The cluster is "
                  "never in the files: ask the person.",
                  {"check"},
                  kCapturing},
      ToolCommand{"import",
                  "The plan that launch scripts or configurations of a framework describe, for "
                  "predict and tune.",
                  {"import"},
                  kCapturing},
      ToolCommand{
          "export", "The files of a framework or launcher that start a plan, as text.", {}, {}},
      ToolCommand{"explain",
                  "What the short code of a plan, or a term of this program, means.",
                  {"explain"},
                  {}},
      ToolCommand{"diagnose",
                  "Why a job hung, died, ran out of memory or is slow, from the logs and dumps "
                  "that it left.",
                  {"diagnose"},
                  {}},
      ToolCommand{"run",
                  "Days, GPU hours and cost of a whole run with failures, restarts, checkpoints "
                  "and evaluation. Tell what `assumed` lists.",
                  {"run"},
                  {}},
      ToolCommand{"phases",
                  "The step of preference or reinforcement learning: forwards, generation, "
                  "training, and how devices are best split.",
                  {"phases"},
                  {}},
      ToolCommand{"traffic",
                  "Every message of a step: who sends how much to whom, and over which links.",
                  {"traffic"},
                  {}},
      ToolCommand{
          "compare", "Whether a run sent what its plan says, from its logs.", {"compare"}, {}},
      ToolCommand{
          "characterize", "What a program communicates, from its logs.", {"characterize"}, {}},
      ToolCommand{"lengths",
                  "How long the documents of a data set are, for `batch.lengths` of a job.",
                  {"lengths"},
                  {}},
      ToolCommand{"list",
                  "Known models, cluster profiles, frameworks, schedules, shardings, collectives.",
                  {"list-models", "list-profiles", "list-frameworks", "list-schedules",
                   "list-shardings", "list-collectives"},
                  {}},
      ToolCommand{"study",
                  "How utilisation, bandwidth, searches, collectives or schedules behave over "
                  "sizes.",
                  {"study", "study-search", "study-collectives", "study-schedules"},
                  {}},
      ToolCommand{"interleave",
                  "What running two micro-batches of a layer against each other would gain.",
                  {"interleave"},
                  {}},
      ToolCommand{"fit",
                  "Fits the cost models to your own samples, traces, runs or snapshots.",
                  {"fit", "fit-collectives", "fit-measured", "fit-runs", "fit-snapshot"},
                  {}},
      ToolCommand{
          "validate", "How far predictions are from a table of measurements.", {"validate"}, {}},
  };
  return kCommands;
}

std::vector<mcp::Tool> tool_list(CLI::App& program) {
  std::vector<mcp::Tool> tools;
  for (const ToolCommand& row : tool_commands()) tools.push_back(tool_of(program, row));
  return tools;
}

}  // namespace stepwright::cli
