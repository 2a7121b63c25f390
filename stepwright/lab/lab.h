#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/lab/namespaces.h"
#include "stepwright/lab/rank_run.h"
#include "stepwright/lab/spec.h"
#include "stepwright/lab/topology.h"

namespace stepwright::lab {

/// A cluster emulated on this machine: each node is a network namespace, and links are limited to
/// the rates in an `EmulatedClusterSpec`. Nothing outside of these namespaces is changed; the
/// destructor removes them.
///
///     const EmulatedCluster lab(load_emulated_cluster("examples/lab-4x4.yaml"));
///     const std::vector<CommandLine> commands(lab.spec().ranks(), {"./rank", "plan.yaml"});
///     const RankRunResult result =
///         lab.run_programs_on_ranks(commands, {.out = std::cout, .err = std::cerr});
class EmulatedCluster {
 public:
  /// Builds the emulated cluster. Fails with `kUnsupported`, listing everything that the machine
  /// lacks (root, `ip`, `tc`, a feature of the kernel), or with `kRuntime`.
  explicit EmulatedCluster(EmulatedClusterSpec spec);

  [[nodiscard]] const EmulatedClusterSpec& spec() const { return spec_; }
  /// Returns the name of the network namespace that emulates a node, as `ip netns exec` takes it.
  [[nodiscard]] std::string namespace_of_node(std::int64_t node) const;

  /// Runs one program for each rank (`commands` in the order of ranks), in the namespace of the
  /// rank's node and with torchrun's environment variables. Fails with `kInput` if the number of
  /// programs is not that of ranks, with `kRuntime` if one cannot be started.
  [[nodiscard]] RankRunResult run_programs_on_ranks(std::span<const CommandLine> commands,
                                                    const RankRunOptions& options) const;

 private:
  EmulatedClusterSpec spec_;
  NodeNamespaces namespaces_;
};

}  // namespace stepwright::lab
