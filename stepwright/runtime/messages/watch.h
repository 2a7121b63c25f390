#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// The words that ranks leave each other when one of them cannot go on, through the store beside
/// the communicators. A rank that fails posts why; the others, whatever they wait for, see it
/// within a fraction of a second, say where they stand and end. Whoever says nothing is dead or
/// hangs.
class Watch {
 public:
  /// Ends the process: prints the message, exits with the code.
  using End = std::function<void(const std::string& message, int code)>;
  /// Watches from here on; `end` is called at most once, from any thread.
  Watch(const c10::intrusive_ptr<c10d::Store>& store, std::int64_t rank, std::int64_t size,
        End end);
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
  void look();
  void conclude(const std::string& why, bool lost, int code);
  [[nodiscard]] std::string position();
  [[nodiscard]] std::vector<std::string> positions();

  c10::intrusive_ptr<c10d::Store> store_;
  std::int64_t rank_;
  std::int64_t size_;
  End end_;
  std::atomic<std::int64_t> step_ = 0;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stops_ = false;
  bool concluded_ = false;
  std::map<std::thread::id, std::pair<std::string, double>> waits_;
  std::thread thread_;
};

/// Each rank's text under a key, in the order of ranks; every rank calls it. Fails with `kRuntime`,
/// naming the rank that is missing, after the world's timeout.
std::vector<std::string> exchange(const Groups::World& world, const std::string& key,
                                  const std::string& own);

/// Ends the watch of a rank that is done. Rank 0, which serves the store that all watches ask,
/// stays until the others have ended theirs. Fails with `kRuntime`, naming a rank that never does.
void leave(const Groups::World& world);

}  // namespace stepwright::runtime
