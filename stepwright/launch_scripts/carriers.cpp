#include "stepwright/launch_scripts/carriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/scalar.h"
#include "stepwright/launch_scripts/makefile.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {
namespace {

/// Depth to which a file is searched for containers.
constexpr int kDeepestContainer = 24;

std::optional<DocumentNode> below(const std::optional<DocumentNode>& node, std::string_view key) {
  if (!node || !node->is_mapping()) return std::nullopt;
  const auto found = node->find(key);
  return found && !found->is_null() ? found : std::nullopt;
}

std::string text_below(const std::optional<DocumentNode>& node, std::string_view key) {
  const auto found = below(node, key);
  return found && found->is_scalar() ? found->text() : "";
}

/// True for a text such as "${NODES}", for which a template (envsubst, Compose) has a value.
bool is_place(std::string_view text) { return text.starts_with("${") && text.ends_with('}'); }

std::int64_t count_below(const std::optional<DocumentNode>& node, std::string_view key) {
  const IntegerParseResult number = read_integer(text_below(node, key));
  return number.status == IntegerParseResult::IntegerParseStatus::kGood ? number.value : 0;
}

/// Returns a text as a word of a shell in which "${NAME}" of a template, and "$(NAME)" of
/// Kubernetes, are variables.
std::string as_shell_word(std::string_view text) {
  std::string word;
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (rest.size() < 4 || (rest[1] != '{' && rest[1] != '(')) continue;
    const std::size_t end = rest.find(rest[1] == '{' ? '}' : ')');
    if (end == std::string_view::npos) continue;
    const std::string_view name = rest.substr(2, end - 2);
    if (!is_variable_name(name)) continue;
    if (at > 0) word += in_shell_quotes(text.substr(0, at));
    word += fmt::format("\"${{{}}}\"", name);
    text.remove_prefix(at + end + 1);
    at = std::string_view::npos;  // The search goes on at the start of the rest.
  }
  return text.empty() && !word.empty() ? word : word + in_shell_quotes(text);
}

/// Builds a script whose lines have the same numbers as in the file, as far as possible.
class ScriptLines {
 public:
  explicit ScriptLines(std::uint32_t before) : line_(before + 1) {}

  void extent(std::int64_t nodes, std::int64_t devices) {
    if (nodes > 0) options_ += fmt::format(" --nodes={}", nodes);
    if (devices > 0) options_ += fmt::format(" --gpus-per-node={}", devices);
  }
  /// Requests numbers that are expressions of a shell, because they are open in a template.
  void open_extent(const std::string& nodes, const std::string& devices) {
    open_ = true;
    options_ = fmt::format(" --nodes={}", nodes);
    if (!devices.empty()) options_ += fmt::format(" --gpus-per-node={}", devices);
  }
  void variable(const std::string& name, std::string_view value) {
    if (is_variable_name(name))
      variables_ += fmt::format("export {}={}; ", name, as_shell_word(value));
  }
  void computed_variable(std::string_view name, std::string_view expression) {
    variables_ += fmt::format("export {}={}; ", name, expression);
  }
  /// Adds a text that a shell runs; a YAML block starts on the line below its key.
  void text(DocumentNode node, std::string_view text) {
    go_to(node.source_line() + (node.text().find('\n') != std::string::npos ? 1 : 0), false);
    add(text);
    add("\n");
  }
  /// Adds the words of one command.
  void words(const std::vector<DocumentNode>& nodes) {
    bool first = true;
    for (const DocumentNode& node : nodes) {
      go_to(node.source_line(), !first);
      add((first ? "" : " ") + as_shell_word(node.text()));
      first = false;
    }
    add("\n");
  }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string take() const {
    // The script always starts with these three lines, even if options and variables are empty.
    if (open_) {
      return fmt::format("#!/bin/bash\n\n{}sbatch{} <<'END OF JOB'\n{}\nEND OF JOB\n", variables_,
                         options_, text_);
    }
    return fmt::format("#!/bin/bash\n{}{}\n{}\n{}", options_.empty() ? "" : "#SBATCH", options_,
                       variables_, text_);
  }

 private:
  void add(std::string_view text) {
    text_ += text;
    line_ += static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
  }
  void go_to(std::uint32_t line, bool within) {
    while (line_ < line) add(within ? " \\\n" : "\n");
  }

  std::string options_, variables_, text_;
  bool open_ = false;  ///< True if an extent is open in a template.
  std::uint32_t line_;
};

constexpr std::uint32_t kHeadLines = 3;

/// Returns the scalar items of a list, or a single scalar.
std::vector<DocumentNode> scalars_of(const std::optional<DocumentNode>& list) {
  std::vector<DocumentNode> found;
  if (list && list->is_scalar()) found.push_back(*list);
  for (std::size_t i = 0; list && list->is_sequence() && i < list->size(); ++i) {
    if (list->at(i).is_scalar()) found.push_back(list->at(i));
  }
  return found;
}

/// Adds the variables of `env:`, a list of names and values, or a mapping.
void add_environment(const std::optional<DocumentNode>& environment, ScriptLines& script) {
  if (environment && environment->is_mapping()) {
    for (const auto& [name, value] : environment->mapping_members()) {
      if (value.is_scalar()) script.variable(name, value.text());
    }
  }
  for (std::size_t i = 0; environment && environment->is_sequence() && i < environment->size();
       ++i) {
    const DocumentNode one = environment->at(i);
    if (one.is_scalar()) {
      const std::string text = one.text();
      const std::size_t equals = text.find('=');
      if (equals != std::string::npos)
        script.variable(text.substr(0, equals), text.substr(equals + 1));
    } else if (below(one, "value")) {
      script.variable(text_below(one, "name"), text_below(one, "value"));
    }
  }
}

/// Adds a command: the text of `["bash", "-c", TEXT]`, other words as one command.
void add_command(const std::vector<DocumentNode>& words, ScriptLines& script) {
  if (words.empty()) return;
  const auto shell = [](std::string_view word) {
    word = last_path_part(word);
    return word == "bash" || word == "sh";
  };
  if (shell(words.front().text())) {
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      const std::string option = words[i].text();
      const bool takes_text = option.starts_with('-') && !option.starts_with("--") &&
                              option.find('c') != std::string::npos;
      if (takes_text) return script.text(words[i + 1], words[i + 1].text());
    }
  }
  if (words.size() == 1 && words.front().text().find_first_of(" \n") != std::string::npos) {
    return script.text(words.front(), words.front().text());
  }
  script.words(words);
}

/// Finds the containers of one or several pods, and the devices that they request.
class Containers {
 public:
  /// A number of replicas: a factor, and factors that are open in a template ("*${WORKERS}").
  struct Replicas {
    std::int64_t count = 1;
    std::string open;
  };

  void walk(DocumentNode node, Replicas replicas, int depth) {
    if (depth == 0) return;
    if (node.is_sequence()) {
      for (std::size_t i = 0; i < node.size(); ++i) walk(node.at(i), replicas, depth - 1);
    }
    if (!node.is_mapping()) return;
    const auto containers = below(node, "containers");
    if (containers && containers->is_sequence()) return take(*containers, replicas);
    for (const std::string_view key : {"replicas", "parallelism"}) {
      if (const std::int64_t count = count_below(node, key)) replicas.count *= count;
      if (const std::string text = text_below(node, key); is_place(text))
        replicas.open += "*" + text;
    }
    for (const auto& [key, value] : node.mapping_members()) {
      if (key == "initContainers") continue;
      walk(value, replicas, depth - 1);
    }
  }

  std::vector<DocumentNode> found;
  std::int64_t pods = 0;  ///< Number of pods that request devices.
  std::int64_t devices = 0;
  std::string open_pods;     ///< Terms of pods whose number is open: "+1*${WORKERS}".
  std::string open_devices;  ///< Number of devices that is open: "${GPUS}".

 private:
  void take(DocumentNode containers, const Replicas& replicas) {
    for (std::size_t i = 0; i < containers.size(); ++i) {
      const DocumentNode container = containers.at(i);
      const auto resources = below(container, "resources");
      for (const std::string_view kind : {"limits", "requests"}) {
        const auto amounts = below(resources, kind);
        std::int64_t count = 0;
        std::string open;
        for (const std::string_view device : {"nvidia.com/gpu", "amd.com/gpu"}) {
          if (count == 0) count = count_below(amounts, device);
          if (const std::string text = text_below(amounts, device); is_place(text)) open = text;
        }
        if (count == 0 && open.empty()) continue;
        if (replicas.open.empty()) pods += replicas.count;
        if (!replicas.open.empty())
          open_pods += fmt::format("+{}{}", replicas.count, replicas.open);
        devices = std::max(devices, count);
        if (!open.empty()) open_devices = open;
        break;
      }
      if (below(container, "command") || below(container, "args")) found.push_back(container);
    }
  }
};

void read_kubernetes(DocumentNode root, ScriptLines& script) {
  const auto spec = below(root, "spec");
  Containers containers;
  if (spec) containers.walk(*spec, {}, kDeepestContainer);
  std::int64_t count = containers.devices;
  if (const std::int64_t processes = count_below(spec, "nprocPerNode")) count = processes;
  const std::string devices = count > 0 ? std::to_string(count) : containers.open_devices;
  const std::string pods = fmt::format("$(({}{}))", containers.pods, containers.open_pods);
  const bool open = !containers.open_pods.empty() || (count == 0 && !devices.empty());
  open ? script.open_extent(pods, devices) : script.extent(containers.pods, count);
  // Variables that torchrun uses as defaults (kubeflow/training-operator
  // pkg/controller.v1/pytorch/envvar.go).
  if (text_below(root, "kind") == "PyTorchJob" && (containers.pods > 0 || open)) {
    script.computed_variable("PET_NNODES", pods);
    if (!devices.empty()) script.computed_variable("PET_NPROC_PER_NODE", devices);
  }
  for (const DocumentNode& container : containers.found)
    add_environment(below(container, "env"), script);
  // MPI and Ray jobs start a command that is outside of the containers.
  if (const auto entry = below(spec, "entrypoint")) add_command(scalars_of(entry), script);
  for (const DocumentNode& container : containers.found) {
    std::vector<DocumentNode> words = scalars_of(below(container, "command"));
    std::ranges::copy(scalars_of(below(container, "args")), std::back_inserter(words));
    add_command(words, script);
  }
}

/// Returns the number of devices in "H100:8" or {H100: 8}.
std::int64_t accelerators_of(const std::optional<DocumentNode>& said) {
  std::string text = said && said->is_scalar() ? said->text() : "";
  if (said && said->is_mapping() && said->size() > 0) {
    const DocumentNode first = said->mapping_members().front().second;
    return first.is_scalar() ? read_integer(first.text()).value : 0;
  }
  const std::size_t colon = text.rfind(':');
  if (text.empty()) return 0;
  if (colon == std::string::npos) return 1;
  const IntegerParseResult number = read_integer(text.substr(colon + 1));
  return number.status == IntegerParseResult::IntegerParseStatus::kGood ? number.value : 0;
}

/// Reads a task of SkyPilot (skypilot-org/skypilot docs/source/reference/yaml-spec.rst).
void read_sky(DocumentNode root, ScriptLines& script) {
  const auto resources = below(root, "resources");
  const std::int64_t nodes = std::max<std::int64_t>(1, count_below(root, "num_nodes"));
  const std::int64_t devices = accelerators_of(below(resources, "accelerators"));
  script.extent(nodes, devices);
  script.variable("SKYPILOT_NUM_NODES", std::to_string(nodes));
  script.variable("SKYPILOT_NODE_RANK", "0");
  if (devices > 0) script.variable("SKYPILOT_NUM_GPUS_PER_NODE", std::to_string(devices));
  add_environment(below(root, "envs"), script);
  add_environment(below(root, "env"), script);
  const DocumentNode run = root.get("run");
  script.text(run, run.text());
}

/// Reads a task of dstack, which has `commands:` (dstackai/dstack
/// docs/docs/reference/dstack.yml/task.md).
void read_dstack(DocumentNode root, ScriptLines& script) {
  const std::int64_t nodes = std::max<std::int64_t>(1, count_below(root, "nodes"));
  const std::int64_t devices = accelerators_of(below(below(root, "resources"), "gpu"));
  script.extent(nodes, devices);
  script.variable("DSTACK_NODES_NUM", std::to_string(nodes));
  script.variable("DSTACK_NODE_RANK", "0");
  if (devices > 0) {
    script.variable("DSTACK_GPUS_PER_NODE", std::to_string(devices));
    script.variable("DSTACK_GPUS_NUM", std::to_string(nodes * devices));
  }
  add_environment(below(root, "env"), script);
  for (const DocumentNode& line : scalars_of(below(root, "commands")))
    script.text(line, line.text());
}

/// Reads a command job of AzureML, in which `${{inputs.NAME}}` is replaced by the input of that
/// name (azureml.schemas/latest/commandJob.schema.json).
void read_azure(DocumentNode root, ScriptLines& script) {
  const std::int64_t nodes =
      std::max<std::int64_t>(1, count_below(below(root, "resources"), "instance_count"));
  script.extent(nodes, count_below(below(root, "distribution"), "process_count_per_instance"));
  script.variable("AZUREML_NODE_COUNT", std::to_string(nodes));
  add_environment(below(root, "environment_variables"), script);
  const DocumentNode command = root.get("command");
  std::string text = command.text();
  for (std::size_t at = text.find("${{"); at != std::string::npos; at = text.find("${{", at)) {
    const std::size_t end = text.find("}}", at);
    if (end == std::string::npos) break;
    std::string name = text.substr(at + 3, end - at - 3);
    std::erase(name, ' ');
    name = name.substr(name.rfind('.') + 1);
    const std::string value = text_below(below(root, "inputs"), name);
    text.replace(at, end + 2 - at, value.empty() ? name : value);
    at += value.empty() ? name.size() : value.size();
  }
  script.text(command, text);
}

/// Reads an experiment of Determined, whose launchers start a process for each slot
/// (determined-ai/determined harness/determined/launch/).
void read_determined(DocumentNode root, ScriptLines& script) {
  // An agent is assumed to have at most eight slots; a trial with more runs on several agents.
  constexpr std::int64_t kMostSlots = 8;
  const std::int64_t slots = count_below(below(root, "resources"), "slots_per_trial");
  const std::int64_t nodes =
      std::max<std::int64_t>(1, slots % kMostSlots == 0 ? slots / kMostSlots : 1);
  const std::int64_t devices = std::max<std::int64_t>(1, slots) / nodes;
  script.extent(nodes, devices);
  add_environment(below(below(root, "environment"), "environment_variables"), script);
  const DocumentNode entry = root.get("entrypoint");
  if (!entry.is_scalar()) return add_command(scalars_of(entry), script);
  std::string text = entry.text();
  for (const std::string_view launcher : {"deepspeed", "torch_distributed", "horovod"}) {
    const std::string module = fmt::format("determined.launch.{} ", launcher);
    const std::size_t at = text.find(module);
    if (at == std::string::npos) continue;
    text.replace(
        at, module.size(),
        fmt::format("torch.distributed.run --nnodes={} --nproc_per_node={} ", nodes, devices));
  }
  script.text(entry, text);
}

/// Reads the services of docker/compose, each with its command.
void read_compose(DocumentNode root, ScriptLines& script) {
  for (const auto& [name, service] : root.get("services").mapping_members()) {
    if (!service.is_mapping() || !below(service, "command")) continue;
    add_environment(below(service, "environment"), script);
    std::vector<DocumentNode> words = scalars_of(below(service, "entrypoint"));
    std::ranges::copy(scalars_of(below(service, "command")), std::back_inserter(words));
    add_command(words, script);
  }
}

using Reader = void (*)(DocumentNode, ScriptLines&);

Reader reader_of(const std::optional<DocumentNode>& root) {
  if (below(root, "apiVersion") && below(root, "kind")) return read_kubernetes;
  const auto run = below(root, "run");
  const bool sky = below(root, "resources") || below(root, "num_nodes") || below(root, "setup");
  if (run && run->is_scalar() && sky) return read_sky;
  if (text_below(root, "type") == "task" && below(root, "commands")) return read_dstack;
  if (below(root, "entrypoint") && below(below(root, "resources"), "slots_per_trial"))
    return read_determined;
  const auto command = below(root, "command");
  const bool azure = text_below(root, "$schema").find("azureml") != std::string::npos;
  if (azure && command && command->is_scalar()) return read_azure;
  const auto services = below(root, "services");
  return services && services->is_mapping() ? read_compose : nullptr;
}

/// Splits a file into its YAML documents, each with the number of lines before it.
std::vector<std::pair<std::uint32_t, std::string>> documents_of(std::string_view text) {
  std::vector<std::pair<std::uint32_t, std::string>> parts(1);
  std::uint32_t line = 0;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view one = text.substr(at, end - at);
    if (one == "---" || one.starts_with("--- ")) {
      parts.emplace_back(line + 1, "");
    } else {
      parts.back().second += one;
      parts.back().second += '\n';
    }
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::optional<SourceFile> shell_script_of_scheduler_job_file(const SourceFile& file) {
  if (auto script = makefile_script(file)) return script;
  const bool named = file.name.ends_with(".yaml") || file.name.ends_with(".yml");
  const bool may = file_contains_text(file, "apiVersion:") || file_contains_text(file, "run:") ||
                   file_contains_text(file, "commands:") || file_contains_text(file, "command:") ||
                   file_contains_text(file, "slots_per_trial:");
  if (!named || !may || is_shell_script(file)) return std::nullopt;
  for (const auto& [before, text] : documents_of(file.text)) {
    try {
      // The document is preceded by as many lines as in the file, so that line numbers agree.
      const YamlJsonDocument document =
          YamlJsonDocument::parse(std::string(before, '\n') + text, file.name);
      const std::optional<DocumentNode> root = document.root();
      const Reader reader = reader_of(root);
      if (reader == nullptr) continue;
      ScriptLines script(kHeadLines);
      reader(*root, script);
      if (!script.empty()) return SourceFile{file.name, script.take()};
    } catch (const Error&) {
      continue;
    }
  }
  return std::nullopt;
}

std::vector<SourceFile> config_map_files(const SourceFile& file) {
  std::vector<SourceFile> files;
  if (!file_contains_text(file, "kind: ConfigMap")) return files;
  for (const auto& [before, text] : documents_of(file.text)) {
    try {
      const YamlJsonDocument document =
          YamlJsonDocument::parse(std::string(before, '\n') + text, file.name);
      const std::optional<DocumentNode> root = document.root();
      const auto data = below(root, "data");
      if (text_below(root, "kind") != "ConfigMap" || !data || !data->is_mapping()) continue;
      for (const auto& [name, value] : data->mapping_members()) {
        if (!value.is_scalar()) continue;
        // The text is preceded by as many lines as in the file, so that line numbers agree.
        files.push_back({fmt::format("{}/{}", file.name, name),
                         std::string(value.source_line(), '\n') + value.text()});
      }
    } catch (const Error&) {
      continue;
    }
  }
  return files;
}

}  // namespace stepwright::launch_scripts
