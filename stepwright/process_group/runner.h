#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "stepwright/process_group/engine.h"
#include "stepwright/process_group/scheduled_work.h"
#include "stepwright/process_group/status_board.h"

namespace stepwright::process_group {

/// A collective that waits for its turn.
struct QueuedCall {
  CollectiveCall call;
  std::function<void()> after;  ///< Called with the result, before the work is over; may be empty.
  c10::intrusive_ptr<ScheduledWork> work;
};

/// Runs the collectives of a group in the order in which they were called, on a thread of its own
/// that starts with the first one. After a failure everything fails: ranks are no longer in step.
class Runner {
 public:
  Runner(Engine& engine, StatusBoard& board, int rank)
      : engine_(engine), board_(board), rank_(rank) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() { stop("the group is destroyed"); }

  /// Queues a job, or fails it at once.
  void add(QueuedCall job);

  /// Lets what is queued come to its end. Returns whether it did within `timeout`.
  bool finish(std::chrono::milliseconds timeout);

  /// Ends what runs, fails what waits, and refuses what comes. Callable twice.
  void stop(const std::string& reason);

 private:
  void serve();
  void run(const QueuedCall& job);
  void break_off(const std::string& reason);
  [[nodiscard]] static std::exception_ptr failure(const std::string& text);

  Engine& engine_;
  StatusBoard& board_;
  int rank_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<QueuedCall> queue_;
  bool busy_ = false;
  bool stopping_ = false;
  std::string broken_;  ///< Why nothing can run any more.
  std::thread thread_;
};

}  // namespace stepwright::process_group
