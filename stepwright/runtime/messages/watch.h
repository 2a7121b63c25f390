#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "stepwright/process_group/bounded_store.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// Ends all ranks of a run when one of them cannot continue. A rank that fails posts the reason in
/// the shared store; the others, whatever they wait for, see it within a fraction of a second, post
/// where they are and end. Each rank also counts up a number in the store; rank 0 treats a rank
/// whose number stays the same as dead or hanging.
class RankWatch {
 public:
  /// Rank number of this process, and the store that all ranks of the run share.
  struct RankWatchSetup {
    c10::intrusive_ptr<process_group::TimeLimitedStore> store;
    std::int64_t rank = 0;
    std::int64_t size = 1;
    /// How long the store or a rank may be silent before it counts as lost.
    std::chrono::milliseconds timeout{};
    std::string server;  ///< Name, for messages, of the process that serves the store.
  };
  /// Function that prints the message and ends the process with the exit code.
  using End = std::function<void(const std::string& message, int code)>;
  /// Starts to watch the other ranks on a thread of its own. `end` is called at most once, from any
  /// thread.
  RankWatch(const RankWatchSetup& world, End end);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Records the training step that this rank is in (from 1; 0: before the first), which other
  /// ranks print if they must end.
  void begin_step(std::int64_t step) { step_ = step; }
  /// Stops watching: from now on, other ranks can no longer end this one.
  void stop_watching_ranks();

  /// While an object of this class exists, the watch counts the calling thread as waiting for other
  /// ranks.
  class WaitForRanksScope {
   public:
    /// `what`: name of the awaited event in messages. `watch`: null if the run has none.
    WaitForRanksScope(RankWatch* watch, const std::string& what);
    ~WaitForRanksScope();
    WaitForRanksScope(const WaitForRanksScope&) = delete;
    WaitForRanksScope& operator=(const WaitForRanksScope&) = delete;

   private:
    RankWatch* watch_;
  };

  /// Tells the other ranks why this rank ends, collects where they are for the message, and ends
  /// the process. `lost`: true if this rank waited in vain, so that another rank is to blame.
  void end_run_with_reason(const std::string& why, bool lost, int code);

 private:
  /// Count that a rank increments as its sign of life, as rank 0 last saw it.
  struct RankHeartbeat {
    std::int64_t beats = 0;   ///< Number of signs of life; 0: the rank has not joined yet.
    std::int64_t missed = 0;  ///< Number of checks by rank 0 since the rank's last sign of life.
  };

  void look();
  /// Posts a sign of life of this rank. On rank 0, returns the name of a rank that has stopped
  /// giving signs of life; empty: all ranks give them, or this is not rank 0.
  std::string post_heartbeat_and_find_silent_rank();
  std::string listen();
  void conclude(const std::string& why, bool lost, int code);
  [[nodiscard]] std::string position();
  [[nodiscard]] std::vector<std::string> positions();

  RankWatchSetup world_;
  /// Connection to the store for regular checks; waits up to the timeout.
  c10::intrusive_ptr<c10d::Store> store_;
  /// Connection to the store for last messages; waits for a few seconds only.
  c10::intrusive_ptr<c10d::Store> ending_;
  std::vector<RankHeartbeat> pulses_;  ///< Signs of life of each rank; used on rank 0 only.
  End end_;
  std::atomic<std::int64_t> step_ = 0;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stops_ = false;
  bool concluded_ = false;
  std::map<std::thread::id, std::pair<std::string, double>> waits_;
  std::thread thread_;
};

/// Waits for a message; `what`: its name in errors. If another rank ends or the message times out,
/// the rank watch ends this process; without a watch, fails with `kRuntime`.
void wait_for_message(RankWatch* watch, const std::string& what, c10d::Work& message);

/// Returns the key that a rank sets in the shared store when its work is done.
std::string rank_done_key(std::int64_t rank);

}  // namespace stepwright::runtime
