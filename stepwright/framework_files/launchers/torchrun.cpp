#include "stepwright/framework_files/launchers/torchrun.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace stepwright {
namespace {

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value > 0 ? std::optional(value) : std::nullopt;
}

/// The value of the first of some options, as `--name value` or `--name=value`.
std::optional<std::int64_t> option(std::span<const ShellWord> words,
                                   std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].text;
    for (const std::string_view name : names) {
      if (text == name && i + 1 < words.size()) return number_of(words[i + 1].text);
      if (text.starts_with(name) && text.substr(name.size()).starts_with('=')) {
        return number_of(text.substr(name.size() + 1));
      }
    }
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 5> kNodes = {"--nnodes", "--num_nodes", "--num-nodes",
                                                    "--nodes", "-N"};
constexpr std::array<std::string_view, 8> kPerNode = {
    "--nproc_per_node", "--nproc-per-node",  "--num_gpus", "--num-gpus",
    "--gpus-per-node",  "--ntasks-per-node", "--gres=gpu", "--gpus_per_node"};

}  // namespace

std::string comment_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line.empty() ? "#\n" : fmt::format("# {}\n", line);
  return text;
}

std::string script_head(const PlannedJob& planned, const std::vector<std::string>& header,
                        const std::string& settings) {
  const Cluster& cluster = planned.job.cluster;
  return fmt::format(
      "#!/usr/bin/env bash\n{}set -euo pipefail\n\n"
      "NODES={}\nDEVICES_PER_NODE={}\n"
      "NODE_RANK=${{NODE_RANK:-${{SLURM_NODEID:-0}}}}  # ranks go node by node\n"
      "MASTER_ADDR=${{MASTER_ADDR:-localhost}}\nMASTER_PORT=${{MASTER_PORT:-29500}}\n{}\n",
      comment_lines(header), cluster.nodes, cluster.devices_per_node, settings);
}

std::string torchrun_lines() {
  return "torchrun --nnodes \"$NODES\" --nproc-per-node \"$DEVICES_PER_NODE\" \\\n"
         "  --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\" --master-port "
         "\"$MASTER_PORT\" \\\n";
}

void read_launcher(const StartedCommand& command, Draft& draft) {
  for (const std::span<const ShellWord> place :
       {std::span<const ShellWord>(command.launchers),
        std::span<const ShellWord>(command.batch_options)}) {
    if (!draft.nodes) draft.nodes = option(place, kNodes);
    if (!draft.devices_of_node) draft.devices_of_node = option(place, kPerNode);
  }
}

}  // namespace stepwright
