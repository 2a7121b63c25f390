#include "stepwright/launch_scripts/shell/batch.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "stepwright/launch_scripts/shell/state.h"

namespace stepwright::launch_scripts {
namespace {

std::optional<std::int64_t> batch_number(std::string_view text) {
  // "gpu:8", "gpu:a100:8", "8(x4)".
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) text.remove_prefix(colon + 1);
  text = text.substr(0, text.find_first_not_of("0123456789"));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool sound = error == std::errc() && value > 0 && value < 1'000'000;
  return sound ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> batch_option(std::span<const ShellWord> words, std::string_view full,
                                         std::string_view brief) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].text;
    const bool follows = i + 1 < words.size();
    if ((text == full || (text == brief && !brief.empty())) && follows) {
      return batch_number(words[i + 1].text);
    }
    if (text.starts_with(full) && text.substr(full.size()).starts_with('=')) {
      return batch_number(text.substr(full.size() + 1));
    }
    if (!brief.empty() && text.starts_with(brief) && !text.starts_with("--")) {
      return batch_number(text.substr(brief.size()));
    }
  }
  return std::nullopt;
}

std::vector<ShellWord> batch_options(std::string_view text, std::uint32_t file) {
  constexpr std::string_view kBatch = "#SBATCH";
  std::vector<ShellWord> options;
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (!line.starts_with(kBatch)) continue;
    const std::string words(line.substr(kBatch.size()));
    for (ShellWord& word : split_words({.text = words, .line = number, .file = file})) {
      if (word.text.starts_with('#')) break;
      options.push_back(std::move(word));
    }
  }
  return options;
}

std::map<std::string, std::string> slurm_variables(std::span<const ShellWord> options) {
  const auto nodes = batch_option(options, "--nodes", "-N");
  auto tasks = batch_option(options, "--ntasks", "-n");
  const auto tasks_of_node = batch_option(options, "--ntasks-per-node");
  const auto devices_of_task = batch_option(options, "--gpus-per-task");
  auto devices_of_node = batch_option(options, "--gpus-per-node");
  if (!devices_of_node) devices_of_node = batch_option(options, "--gres");
  if (!devices_of_node && devices_of_task && tasks_of_node) {
    devices_of_node = *devices_of_task * *tasks_of_node;
  }
  if (!tasks && nodes && tasks_of_node) tasks = *nodes * *tasks_of_node;
  std::map<std::string, std::string> variables;
  const auto set = [&](const char* name, const std::optional<std::int64_t>& value) {
    if (value) variables[name] = std::to_string(*value);
  };
  set("SLURM_NNODES", nodes);
  set("SLURM_JOB_NUM_NODES", nodes);
  set("SLURM_NTASKS", tasks);
  set("SLURM_NPROCS", tasks);
  set("SLURM_NTASKS_PER_NODE", tasks_of_node);
  set("SLURM_GPUS_ON_NODE", devices_of_node);
  set("SLURM_GPUS_PER_NODE", batch_option(options, "--gpus-per-node"));
  set("SLURM_GPUS_PER_TASK", devices_of_task);
  set("SLURM_GPUS", batch_option(options, "--gpus", "-G"));
  set("SLURM_CPUS_PER_TASK", batch_option(options, "--cpus-per-task", "-c"));
  return variables;
}

}  // namespace stepwright::launch_scripts
