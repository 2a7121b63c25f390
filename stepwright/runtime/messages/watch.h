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

/// Lets ranks tell each other through the store when one of them cannot continue. A rank that fails
/// posts the reason; the others, whatever they wait for, see it within a fraction of a second, post
/// where they are and end. Each rank also increments a number in the store, and rank 0 checks all
/// of them. A rank whose number stays the same is dead or hangs, and so is the process that serves
/// the store when the store does not answer.
class RankWatch {
 public:
  /// This rank, and the store that all ranks share.
  struct World {
    c10::intrusive_ptr<process_group::BoundedStore> store;
    std::int64_t rank = 0;
    std::int64_t size = 1;
    std::chrono::milliseconds timeout{};  ///< How long the store or a rank may be silent.
    std::string server;  ///< The process that serves the store, as messages name it.
  };
  /// Prints the message and ends the process with the exit code.
  using End = std::function<void(const std::string& message, int code)>;
  /// Starts to watch; `end` is called at most once, from any thread.
  RankWatch(const World& world, End end);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Records that the rank is in this step (from 1; 0: before the first), for other ranks to see.
  void begin_step(std::int64_t step) { step_ = step; }
  /// Stops to watch: other ranks can no longer make this one fail.
  void stop();

  /// While it exists, the calling thread counts as waiting for other ranks.
  class Waiting {
   public:
    /// `what`: the awaited event, as messages name it. `watch` may be null.
    Waiting(RankWatch* watch, const std::string& what);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    RankWatch* watch_;
  };

  /// Tells the other ranks that this one ends and why, collects where they are, and ends the
  /// process. `lost`: true if this rank waited in vain, so that another rank is to blame.
  void give_up(const std::string& why, bool lost, int code);

 private:
  /// The number that a rank increments, as rank 0 saw it.
  struct RankHeartbeat {
    std::int64_t beats = 0;   ///< The rank's number; 0: the rank has not joined yet.
    std::int64_t missed = 0;  ///< Checks by rank 0 since the rank's number last changed.
  };

  void look();
  /// Increments this rank's number. On rank 0, returns the rank that no longer increments its own,
  /// in words; empty: none.
  std::string send_heartbeat();
  std::string listen();
  void conclude(const std::string& why, bool lost, int code);
  [[nodiscard]] std::string position();
  [[nodiscard]] std::vector<std::string> positions();

  World world_;
  /// Store connection for checks, which wait for the timeout.
  c10::intrusive_ptr<c10d::Store> store_;
  /// Store connection for final messages, which wait for seconds.
  c10::intrusive_ptr<c10d::Store> ending_;
  std::vector<RankHeartbeat> pulses_;  ///< Pulse of each rank; used on rank 0 only.
  End end_;
  std::atomic<std::int64_t> step_ = 0;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stops_ = false;
  bool concluded_ = false;
  std::map<std::thread::id, std::pair<std::string, double>> waits_;
  std::thread thread_;
};

/// Waits for a message; `what`: its name in errors. If another rank ends, or the message times out,
/// the watch ends this rank; without a watch it fails with `kRuntime`.
void wait_for_message(RankWatch* watch, const std::string& what, c10d::Work& message);

/// Returns the key that a rank sets in the store when it is done.
std::string rank_done_key(std::int64_t rank);

}  // namespace stepwright::runtime
