#pragma once

#include <functional>
#include <memory>

#include "stepwright/runtime/launch/launch.h"
#include "stepwright/runtime/launch/launcher_watch.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/watch.h"

namespace stepwright::runtime {

/// The world of this process, joined through MASTER_ADDR and MASTER_PORT. Each rank of this machine
/// uses its share of the cores, unless OMP_NUM_THREADS says otherwise. When another rank or the
/// launcher fails, this process ends. Fails with `kInput` for an environment that no launcher makes
/// and for a rank number that another process has; fails with `kRuntime`, naming the missing ranks,
/// when some do not come.
class JoinedWorld {
 public:
  /// `timeout_s`: how long a rank waits for another one, when joining and in every message.
  JoinedWorld(const LaunchedRank& place, double timeout_s);
  /// Returns the world, which is valid as long as this object.
  [[nodiscard]] const Groups::World& world() const { return world_; }

 private:
  Groups::World world_;
  std::unique_ptr<RankWatch> watch_;
  LauncherWatch launcher_;
};

/// Runs `act` as a rank, which ends when the process that started it ends. Prints an error that was
/// thrown, after the rank's name, and returns the exit code.
int run_as_rank(const std::function<void()>& act);

}  // namespace stepwright::runtime
