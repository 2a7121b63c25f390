#include "stepwright/lab/lab.h"

#include <fmt/format.h>

#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/lab/missing.h"

namespace stepwright::lab {

Lab::Lab(LabSpec spec) : spec_(std::move(spec)), namespaces_(spec_) {
  run_for_lab(rate_limit_commands(spec_, namespaces_.lab()));
}

std::string Lab::network_of(std::int64_t node) const {
  return node_namespace(namespaces_.lab(), node);
}

RunResult Lab::run(std::span<const CommandLine> commands, const RunOptions& options) const {
  if (std::ssize(commands) != spec_.ranks()) {
    fail_input(fmt::format("{} programs for {} ranks", commands.size(), spec_.ranks()));
  }
  std::vector<RankStart> ranks;
  for (std::int64_t rank = 0; rank < spec_.ranks(); ++rank) {
    ranks.push_back({.command = commands[rank],
                     .environment = rank_environment(spec_, rank),
                     .network = network_of(rank / spec_.ranks_per_node)});
  }
  return run_ranks(ranks, spec_.ranks_per_node, options);
}

}  // namespace stepwright::lab
