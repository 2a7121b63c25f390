#include "stepwright/capture/launch_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <vector>

#include "stepwright/capture/event.h"
#include "stepwright/capture/named_files.h"
#include "stepwright/capture/secrets.h"
#include "stepwright/capture/valid_utf8.h"
#include "stepwright/core/quoting.h"

namespace stepwright::capture {
namespace {

constexpr std::array<std::string_view, 27> kMatters = {
    "NCCL_",    "RCCL_", "CUDA_", "NVTE_", "NVSHMEM_",      "TORCH_",      "TORCHINDUCTOR_",
    "PYTORCH_", "OMP_",  "MKL_",  "HF_",   "TRANSFORMERS_", "ACCELERATE_", "MASTER_",
    "FI_",      "UCX_",  "GLOO_", "ROCR_", "HIP_",          "HSA_",        "SLURM_",
    "PBS_",     "LSB_",  "OMPI_", "DS_",   "DEEPSPEED_",    "MEGATRON_"};

constexpr std::array<std::string_view, 17> kMattersWhole = {"WORLD_SIZE",
                                                            "RANK",
                                                            "LOCAL_RANK",
                                                            "LOCAL_WORLD_SIZE",
                                                            "NODE_RANK",
                                                            "NNODES",
                                                            "NPROC_PER_NODE",
                                                            "GPUS_PER_NODE",
                                                            "NUM_NODES",
                                                            "NUM_GPUS",
                                                            "TOKENIZERS_PARALLELISM",
                                                            "PYTHONPATH",
                                                            "LD_LIBRARY_PATH",
                                                            "FORCE_TORCHRUN",
                                                            "USE_HF",
                                                            "GROUP_RANK",
                                                            "NHOSTS"};

/// Variables of shells and of the capture, which are not recorded.
constexpr std::array<std::string_view, 12> kNever = {"_",        "SHLVL", "PWD",     "OLDPWD",
                                                     "BASH_ENV", "LINES", "COLUMNS", "TMPDIR",
                                                     "PS1",      "ENV",   "ZDOTDIR", "HISTFILE"};

constexpr std::size_t kLongestName = 200;

bool matters(std::string_view name) {
  return std::ranges::any_of(kMatters, [&](std::string_view p) { return name.starts_with(p); }) ||
         std::ranges::find(kMattersWhole, name) != kMattersWhole.end();
}

/// Returns a PATH without the folders of the capture.
std::string without_folder(const std::string& value, const std::string& folder) {
  std::string kept;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find(':', at), value.size());
    const std::string part = value.substr(at, end - at);
    if (!part.starts_with(folder)) kept += (at == 0 || kept.empty() ? "" : ":") + part;
    at = end + 1;
  }
  return kept;
}

Words valid_words(const Words& words, bool& replaced) {
  Words valid;
  for (const std::string& word : words) valid.push_back(replace_invalid_utf8(word, replaced));
  return valid;
}

/// Returns all secret values that a word can contain: of the capture's caller and of this process.
std::vector<std::string> all_secrets(const ScriptCaptureContext& context,
                                     const std::map<std::string, std::string>& now) {
  std::vector<std::string> secrets = secret_environment_values(context.settings.environment);
  std::ranges::copy(secret_environment_values(now), std::back_inserter(secrets));
  return secrets;
}

}  // namespace

std::map<std::string, std::string> environment_to_record(
    const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now,
    const std::string& folder) {
  std::map<std::string, std::string> recorded;
  for (const auto& [name, full] : now) {
    const bool own = name.starts_with("STEPWRIGHT_CAPTURE") || name.starts_with("BASH_FUNC_") ||
                     std::ranges::find(kNever, name) != kNever.end();
    if (own || is_secret_variable(name) || looks_like_secret(full)) continue;
    if (name.size() > kLongestName) continue;
    const std::string value = name == "PATH" ? without_folder(full, folder) : full;
    const auto old = before.find(name);
    if (old == before.end() || old->second != value || matters(name)) recorded[name] = value;
  }
  return recorded;
}

void record_launch_command(const ScriptCaptureContext& context, const Words& argv) {
  const std::map<std::string, std::string> now = process_environment();
  const std::vector<std::string> secrets = all_secrets(context, now);
  bool replaced = false;
  std::error_code ignored;
  CapturedLaunchCommand command;
  command.argv = command_without_secrets(valid_words(argv, replaced), secrets, command.left_out);
  command.launcher =
      command_without_secrets(valid_words(context.launcher, replaced), secrets, command.left_out);
  command.environment =
      environment_to_record(context.settings.environment, now, context.folder.string());
  for (auto& [name, value] : command.environment) {
    for (const std::string& secret : secrets) {
      if (value.find(secret) != std::string::npos) value = "[left out]";
    }
  }
  for (const auto& [name, value] : now) {
    const auto old = context.settings.environment.find(name);
    const bool changed = old == context.settings.environment.end() || old->second != value;
    if (changed && is_secret_variable(name) && !name.starts_with("STEPWRIGHT_CAPTURE")) {
      command.left_out.push_back(name);
    }
  }
  command.folder = replace_invalid_utf8(std::filesystem::current_path(ignored).string(), replaced);
  command.nodes = context.stated_node_count();
  // A program that uses Ray runs on one node but trains on all nodes that joined.
  const bool joined = std::filesystem::exists(context.folder / kRayStartedMarkerFile, ignored);
  if (joined && context.allocation) command.nodes = context.allocation->job_nodes;
  command.devices_per_node = context.devices_per_node();
  command.files = files_named_in_arguments(command.argv);
  if (context.allocation) {
    command.scheduler = context.allocation->scheduler;
    command.batch_options = command_without_secrets(
        valid_words(context.allocation->options, replaced), secrets, command.left_out);
  }
  if (replaced) {
    append_capture_text_event(
        context.folder, kNoteEvent,
        fmt::format("Arguments of {} have bytes that are not UTF-8; each was replaced by U+FFFD.",
                    quoted_for_shell(command.argv.front())));
  }
  append_captured_launch_event(context.folder, command);
}

void record_skipped_command(const ScriptCaptureContext& context, const Words& words) {
  const std::vector<std::string> secrets = all_secrets(context, process_environment());
  std::vector<std::string> left_out;
  bool replaced = false;
  Words kept = command_without_secrets(valid_words(words, replaced), secrets, left_out);
  // In `wandb login KEY` no option precedes the key.
  if (kept.size() > 2 && kept[0] == "wandb" && kept[1] == "login") kept.resize(2);
  append_capture_text_event(context.folder, kNotRunEvent, quoted_for_shell(kept));
}

}  // namespace stepwright::capture
