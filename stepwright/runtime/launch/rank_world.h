#pragma once

#include <functional>
#include <memory>

#include "stepwright/runtime/launch/launch.h"
#include "stepwright/runtime/launch/launcher_watch.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/watch.h"

namespace stepwright::runtime {

/// Connection of this process to the other ranks, through MASTER_ADDR and MASTER_PORT. While it
/// exists, this process ends if another rank or the launcher fails. Each rank uses its share of the
/// machine's cores unless OMP_NUM_THREADS is set. Fails with `kInput` for an environment that no
/// launcher makes or a rank number that is taken, with `kRuntime`, naming the missing ranks, if
/// some do not come.
class RankWorldConnection {
 public:
  /// `timeout_s`: seconds that a rank waits for another rank, when it joins and in each message.
  RankWorldConnection(const LaunchedRank& place, double timeout_s);
  /// Returns the ranks of the run as this rank sees them; valid as long as this object.
  [[nodiscard]] const RankCommunicators::RankWorld& ranks_of_run() const { return world_; }

 private:
  RankCommunicators::RankWorld world_;
  std::unique_ptr<RankWatch> watch_;
  LauncherWatch launcher_;
};

/// Runs `act` as one rank of a run. The process ends if the process that started it ends. If `act`
/// throws, prints the error after the rank's name. Returns the exit code.
int run_as_rank(const std::function<void()>& act);

}  // namespace stepwright::runtime
