#include "stepwright/lab/lab.h"

#include <fmt/format.h>

#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/lab/missing.h"

namespace stepwright::lab {

EmulatedCluster::EmulatedCluster(EmulatedClusterSpec spec)
    : spec_(std::move(spec)), namespaces_(spec_) {
  run_emulation_commands(traffic_control_commands(spec_, namespaces_.lab()));
}

std::string EmulatedCluster::namespace_of_node(std::int64_t node) const {
  return node_namespace(namespaces_.lab(), node);
}

RankRunResult EmulatedCluster::run_programs_on_ranks(std::span<const CommandLine> commands,
                                                     const RankRunOptions& options) const {
  if (std::ssize(commands) != spec_.ranks()) {
    fail_input(fmt::format("{} programs for {} ranks", commands.size(), spec_.ranks()));
  }
  std::vector<RankProgramStart> ranks;
  for (std::int64_t rank = 0; rank < spec_.ranks(); ++rank) {
    ranks.push_back({.command = commands[rank],
                     .environment = rank_environment_variables(spec_, rank),
                     .network = namespace_of_node(rank / spec_.ranks_per_node)});
  }
  return run_rank_programs(ranks, spec_.ranks_per_node, options);
}

}  // namespace stepwright::lab
