#include "stepwright/capture/launch_record.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stepwright/core/document.h"

namespace stepwright::capture {
namespace {

constexpr std::string_view kVersion = "launch/1";
constexpr int kHighestExitCode = 255;
constexpr std::int64_t kMostNodes = 1'000'000;

nlohmann::ordered_json optional_json(const std::optional<std::int64_t>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

Words read_words(const DocumentNode& node) {
  if (!node.is_sequence())
    node.fail("must be a list of words, such as [\"torchrun\", \"train.py\"]");
  Words words;
  for (std::size_t i = 0; i < node.size(); ++i) {
    if (!node.at(i).is_scalar()) node.at(i).fail("must be text");
    words.push_back(node.at(i).text());
  }
  return words;
}

Words words_below(const DocumentNode& node, std::string_view key) {
  const auto found = node.find(key);
  return found ? read_words(*found) : Words{};
}

std::optional<std::int64_t> count_below(const DocumentNode& node, std::string_view key) {
  const auto found = node.find(key);
  if (!found || found->is_null()) return std::nullopt;
  return found->integer(1, kMostNodes);
}

CapturedFile read_file(const DocumentNode& node) {
  node.allow_only_keys({"path", "exists", "text"});
  CapturedFile file{.path = node.get("path").text(), .exists = node.get("exists").boolean()};
  if (const auto text = node.find("text")) file.text = text->text();
  return file;
}

}  // namespace

nlohmann::ordered_json captured_command_json(const CapturedLaunchCommand& command) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const CapturedFile& file : command.files) {
    nlohmann::ordered_json one = {{"path", file.path}, {"exists", file.exists}};
    if (file.text) one["text"] = *file.text;
    files.push_back(std::move(one));
  }
  nlohmann::ordered_json json = {{"launcher", command.launcher},
                                 {"argv", command.argv},
                                 {"environment", nlohmann::ordered_json(command.environment)},
                                 {"folder", command.folder},
                                 {"nodes", optional_json(command.nodes)},
                                 {"devices_per_node", optional_json(command.devices_per_node)},
                                 {"files", std::move(files)}};
  if (!command.scheduler.empty()) json["scheduler"] = command.scheduler;
  if (!command.batch_options.empty()) json["batch_options"] = command.batch_options;
  if (!command.left_out.empty()) json["left_out"] = command.left_out;
  if (command.count > 1) json["count"] = command.count;
  if (command.hosts > 1) json["hosts"] = command.hosts;
  return json;
}

CapturedLaunchCommand read_captured_command(const DocumentNode& node) {
  node.allow_only_keys({"launcher", "argv", "environment", "folder", "nodes", "devices_per_node",
                        "files", "scheduler", "batch_options", "left_out", "count", "hosts"});
  CapturedLaunchCommand command;
  command.launcher = words_below(node, "launcher");
  command.argv = read_words(node.get("argv"));
  if (command.argv.empty()) {
    node.get("argv").fail("is empty; it must begin with the program that is started");
  }
  if (const auto environment = node.find("environment")) {
    for (const auto& [name, value] : environment->mapping_members()) {
      if (!value.is_scalar()) value.fail("must be text");
      command.environment[name] = value.text();
    }
  }
  if (const auto folder = node.find("folder")) command.folder = folder->text();
  command.nodes = count_below(node, "nodes");
  command.devices_per_node = count_below(node, "devices_per_node");
  if (const auto files = node.find("files")) {
    if (!files->is_sequence()) files->fail("must be a list of {path, exists}");
    for (std::size_t i = 0; i < files->size(); ++i) {
      command.files.push_back(read_file(files->at(i)));
    }
  }
  if (const auto scheduler = node.find("scheduler")) command.scheduler = scheduler->text();
  command.batch_options = words_below(node, "batch_options");
  command.left_out = words_below(node, "left_out");
  command.count = count_below(node, "count").value_or(1);
  command.hosts = count_below(node, "hosts").value_or(1);
  return command;
}

std::string capture_record_json(const ScriptCaptureResult& captured) {
  nlohmann::ordered_json commands = nlohmann::ordered_json::array();
  for (const CapturedLaunchCommand& command : captured.commands)
    commands.push_back(captured_command_json(command));
  nlohmann::ordered_json json = {{"stepwright", kVersion},  {"commands", std::move(commands)},
                                 {"ran", captured.ran},     {"not_run", captured.not_run},
                                 {"notes", captured.notes}, {"exit_code", captured.exit_code}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

ScriptCaptureResult read_capture_record(std::string_view text, const std::string& name) {
  const YamlJsonDocument document = YamlJsonDocument::parse(text, name);
  const DocumentNode root = document.root();
  if (!root.is_mapping())
    root.fail("must be a record of `stepwright capture`: {\"stepwright\": ...}");
  root.allow_only_keys({"stepwright", "commands", "ran", "not_run", "notes", "exit_code"});
  const DocumentNode version = root.get("stepwright");
  if (!version.is_scalar() || version.text() != kVersion) {
    version.fail("must be launch/1, the version of records of `stepwright capture`");
  }
  const DocumentNode commands = root.get("commands");
  if (!commands.is_sequence()) commands.fail("must be a list of {launcher, argv, ...}");
  ScriptCaptureResult captured;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    captured.commands.push_back(read_captured_command(commands.at(i)));
  }
  captured.ran = words_below(root, "ran");
  captured.not_run = words_below(root, "not_run");
  captured.notes = words_below(root, "notes");
  if (const auto code = root.find("exit_code")) {
    captured.exit_code = static_cast<int>(code->integer(0, kHighestExitCode));
  }
  return captured;
}

}  // namespace stepwright::capture
