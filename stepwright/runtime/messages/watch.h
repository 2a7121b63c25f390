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

/// The words that ranks leave each other when one of them cannot go on, through the store beside
/// the communicators. A rank that fails posts why; the others, whatever they wait for, see it
/// within a fraction of a second, say where they stand and end. Each rank also counts up a number
/// there, and rank 0 looks at all of them. Whoever says nothing is dead or hangs, and so is whoever
/// serves the store when it does not answer.
class Watch {
 public:
  /// The ranks, and the store that they share.
  struct World {
    c10::intrusive_ptr<process_group::BoundedStore> store;
    std::int64_t rank = 0;
    std::int64_t size = 1;
    std::chrono::milliseconds timeout{};  ///< How long the store or a rank may be silent.
    std::string server;                   ///< Who serves the store, as messages name it.
  };
  /// Ends the process: prints the message, exits with the code.
  using End = std::function<void(const std::string& message, int code)>;
  /// Watches from here on; `end` is called at most once, from any thread.
  Watch(const World& world, End end);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Tells the others that the rank is in this step (from 1; 0: before the first).
  void begin_step(std::int64_t step) { step_ = step; }
  /// Stops watching: nothing can fail any more because of another rank.
  void stop();

  /// Marks that the calling thread waits for others while it lives.
  class Waiting {
   public:
    /// `what`: as a message names it. `watch` may be null.
    Waiting(Watch* watch, const std::string& what);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Watch* watch_;
  };

  /// Tells the others that this rank ends, and why; hears where they stand; ends the process.
  /// `lost`: because it waited in vain, so that someone else is to blame.
  void give_up(const std::string& why, bool lost, int code);

 private:
  /// The number that a rank counts up, as rank 0 saw it.
  struct Pulse {
    std::int64_t beats = 0;   ///< 0: the rank has not come yet.
    std::int64_t missed = 0;  ///< Looks of rank 0 since the rank's number last changed.
  };

  void look();
  /// Counts up this rank's number. Returns the rank that no longer does, on rank 0; empty: none.
  std::string beat();
  std::string listen();
  void conclude(const std::string& why, bool lost, int code);
  [[nodiscard]] std::string position();
  [[nodiscard]] std::vector<std::string> positions();

  World world_;
  c10::intrusive_ptr<c10d::Store> store_;   ///< Store for looks, which wait for the timeout.
  c10::intrusive_ptr<c10d::Store> ending_;  ///< Store for the last words, which wait for seconds.
  std::vector<Pulse> pulses_;               ///< Pulse of each rank; on rank 0.
  End end_;
  std::atomic<std::int64_t> step_ = 0;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stops_ = false;
  bool concluded_ = false;
  std::map<std::thread::id, std::pair<std::string, double>> waits_;
  std::thread thread_;
};

/// Waits for a message; `what`: as errors name it. Another rank's end, or the time that it took,
/// ends this rank by the watch; without one it fails with `kRuntime`.
void wait_for_message(Watch* watch, const std::string& what, c10d::Work& message);

/// The key that a rank puts in the store when it is done.
std::string left_key(std::int64_t rank);

}  // namespace stepwright::runtime
