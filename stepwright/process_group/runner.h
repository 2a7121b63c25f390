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

/// A collective call that waits for its turn in a group's queue.
struct QueuedCollectiveCall {
  CollectiveCall call;
  /// Called when the outputs are complete, before the caller is told that the call is done; may be
  /// empty.
  std::function<void()> after;
  c10::intrusive_ptr<ScheduledCollectiveWork> work;
};

/// Runs the collectives of a process group in the order of their calls, on a thread of its own.
/// After a failed call all later calls fail too, since ranks may no longer run the same call.
class CollectiveCallRunner {
 public:
  CollectiveCallRunner(CollectiveEngine& engine, RankStatusBoard& board, int rank)
      : engine_(engine), board_(board), rank_(rank) {}
  CollectiveCallRunner(const CollectiveCallRunner&) = delete;
  CollectiveCallRunner& operator=(const CollectiveCallRunner&) = delete;
  ~CollectiveCallRunner() { stop_and_refuse_calls("the group is destroyed"); }

  /// Queues a collective call, or fails it at once if an earlier one has failed.
  void add(QueuedCollectiveCall job);

  /// Waits until all queued calls are done; returns false if they are not done within `timeout`.
  bool finish(std::chrono::milliseconds timeout);

  /// Stops the running call, fails the queued ones, and refuses new ones. May be called twice.
  void stop_and_refuse_calls(const std::string& reason);

 private:
  void serve();
  void run(const QueuedCollectiveCall& job);
  void break_off(const std::string& reason);
  [[nodiscard]] static std::exception_ptr failure(const std::string& text);

  CollectiveEngine& engine_;
  RankStatusBoard& board_;
  int rank_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<QueuedCollectiveCall> queue_;
  bool busy_ = false;
  bool stopping_ = false;
  /// Reason why this process group can run no further collective; empty: it can.
  std::string broken_;
  std::thread thread_;
};

}  // namespace stepwright::process_group
