#include "stepwright/capture/context.h"

#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "stepwright/capture/valid_utf8.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/output_file.h"

namespace stepwright::capture {
namespace {

constexpr const char* kStateVariable = "STEPWRIGHT_CAPTURE_STATE";
constexpr std::size_t kMostSettingsBytes = std::size_t{64} << 20U;

using Count = std::optional<std::int64_t>;

nlohmann::json count_json(const Count& count) { return count ? nlohmann::json(*count) : nullptr; }

Count read_count(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

nlohmann::json allocation_json(const BatchJobAllocation& allocation) {
  return {{"scheduler", allocation.scheduler},
          {"id", allocation.id},
          {"name", allocation.name},
          {"nodes", count_json(allocation.nodes)},
          {"job_nodes", count_json(allocation.job_nodes)},
          {"devices", count_json(allocation.devices_per_node)},
          {"tasks", count_json(allocation.tasks)},
          {"tasks_per_node", count_json(allocation.tasks_per_node)},
          {"cpus_per_task", count_json(allocation.cpus_per_task)},
          {"array", allocation.array},
          {"options", allocation.options}};
}

BatchJobAllocation read_allocation(const nlohmann::json& json) {
  return {.scheduler = json.value("scheduler", ""),
          .id = json.value("id", std::int64_t{0}),
          .name = json.value("name", ""),
          .nodes = read_count(json, "nodes"),
          .job_nodes = read_count(json, "job_nodes"),
          .devices_per_node = read_count(json, "devices"),
          .tasks = read_count(json, "tasks"),
          .tasks_per_node = read_count(json, "tasks_per_node"),
          .cpus_per_task = read_count(json, "cpus_per_task"),
          .array = json.value("array", ""),
          .options = json.value("options", Words{})};
}

std::string dumped(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::filesystem::path settings_path(const std::filesystem::path& folder) {
  return folder / "settings.json";
}

}  // namespace

std::optional<std::int64_t> ScriptCaptureContext::stated_node_count() const {
  if (allocation && allocation->nodes) return allocation->nodes;
  return settings.nodes;
}

std::optional<std::int64_t> ScriptCaptureContext::devices_per_node() const {
  if (allocation && allocation->devices_per_node) return allocation->devices_per_node;
  return settings.devices_per_node;
}

void write_capture_settings(const ScriptCaptureSettings& settings,
                            const std::filesystem::path& folder) {
  const nlohmann::json json = {{"nodes", count_json(settings.nodes)},
                               {"devices", count_json(settings.devices_per_node)},
                               {"only_launchers", settings.only_launchers},
                               {"environment", settings.environment}};
  write_file(settings_path(folder), dumped(json));
}

std::optional<ScriptCaptureContext> read_capture_context() {
  ScriptCaptureContext context{.folder = environment_variable(kCaptureFolderVariable)};
  if (context.folder.empty()) return std::nullopt;
  const std::string text =
      read_regular_file(settings_path(context.folder), kMostSettingsBytes).value_or("");
  const nlohmann::json settings = nlohmann::json::parse(text, nullptr, false);
  if (!settings.is_object()) return std::nullopt;
  context.settings = {
      .nodes = read_count(settings, "nodes"),
      .devices_per_node = read_count(settings, "devices"),
      .only_launchers = settings.value("only_launchers", false),
      .environment = settings.value("environment", decltype(ScriptCaptureSettings::environment)())};
  context.remote = environment_variable(kCaptureDryRunVariable) == "remote";
  const nlohmann::json state =
      nlohmann::json::parse(environment_variable(kStateVariable), nullptr, false);
  if (!state.is_object()) return context;
  context.launcher = state.value("launcher", Words{});
  context.scripts = state.value("scripts", Words{});
  if (state.contains("allocation")) context.allocation = read_allocation(state["allocation"]);
  return context;
}

void export_capture_context(const ScriptCaptureContext& context) {
  nlohmann::json state = {{"launcher", context.launcher}, {"scripts", context.scripts}};
  if (context.allocation) state["allocation"] = allocation_json(*context.allocation);
  ::setenv(kStateVariable, dumped(state).c_str(), 1);
  if (context.remote) {
    ::setenv(kCaptureDryRunVariable, "remote", 1);
  } else if (context.settings.only_launchers) {
    ::setenv(kCaptureDryRunVariable, "local", 1);
  }
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    bool replaced = false;
    variables[replace_invalid_utf8(text.substr(0, equals), replaced)] =
        replace_invalid_utf8(text.substr(equals + 1), replaced);
  }
  return variables;
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace stepwright::capture
