#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/lab/namespaces.h"
#include "stepwright/lab/rank_run.h"
#include "stepwright/lab/spec.h"
#include "stepwright/lab/topology.h"

namespace stepwright::lab {

/// An emulated cluster: nodes as network namespaces whose links are limited to the rates of the
/// spec. Nothing outside of its own namespaces is changed, and they are removed with this object.
///
///     const Lab lab(load_lab("examples/lab-4x4.yaml"));
///     const std::vector<CommandLine> commands(lab.spec().ranks(), {"./rank", "plan.yaml"});
///     const RunResult result = lab.run(commands, {.out = std::cout, .err = std::cerr});
class Lab {
 public:
  /// Makes the lab. Fails with `kUnsupported`, naming everything that the machine lacks (root,
  /// `ip`, `tc`, a feature of the kernel), or with `kRuntime`.
  explicit Lab(LabSpec spec);

  [[nodiscard]] const LabSpec& spec() const { return spec_; }
  /// Returns the network namespace of a node, as `ip netns exec` takes it.
  [[nodiscard]] std::string network_of(std::int64_t node) const;

  /// Runs one program for each rank, in order of ranks, in the rank's node and with
  /// `rank_environment`. Fails with `kInput` when the number of programs is not that of ranks, with
  /// `kRuntime` when one cannot be started.
  [[nodiscard]] RunResult run(std::span<const CommandLine> commands,
                              const RunOptions& options) const;

 private:
  LabSpec spec_;
  Namespaces namespaces_;
};

}  // namespace stepwright::lab
