#pragma once

#include <functional>
#include <memory>

#include "stepwright/runtime/launch/launch.h"
#include "stepwright/runtime/launch/launcher_watch.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/watch.h"

namespace stepwright::runtime {

/// The world of this process, joined through MASTER_ADDR and MASTER_PORT. Each rank of this machine
/// takes its part of the cores, unless OMP_NUM_THREADS says otherwise; when another one or the
/// launcher fails, this process ends. Fails with `kInput` for an environment that no launcher makes
/// and for a number that another process has, with `kRuntime`, naming the ranks that do not come.
class JoinedWorld {
 public:
  /// `timeout_s`: how long a rank waits for another one, here and in every message.
  JoinedWorld(const LaunchedRank& place, double timeout_s);
  /// Alive as long as this.
  [[nodiscard]] const Groups::World& world() const { return world_; }

 private:
  Groups::World world_;
  std::unique_ptr<Watch> watch_;
  LauncherWatch launcher_;
};

/// Runs a rank, which ends with the process that started it. Prints what was thrown, after the
/// rank's name, and returns the exit code.
int as_rank(const std::function<void()>& act);

}  // namespace stepwright::runtime
