#include "stepwright/lab/rank_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <ostream>

namespace stepwright::lab {
namespace {

using Clock = std::chrono::steady_clock;

bool is_heard(const RunningRank& rank) {
  return rank.out.is_output_pipe_open() || rank.err.is_output_pipe_open();
}

class RankRun {
 public:
  explicit RankRun(const RankRunOptions& options) : options_(options) {
    if (options.timeout_s > 0) deadline_ = options.timeout_s;
  }
  ~RankRun() {
    warden_.kill_namespace_processes();
    for (RunningRank& rank : ranks_) rank.wait_for_process_end(seconds());
  }
  RankRun(const RankRun&) = delete;
  RankRun& operator=(const RankRun&) = delete;

  void start(const RankProgramStart& start, std::int64_t node) {
    ranks_.emplace_back(std::ssize(ranks_), node, warden_, start);
  }

  RankRunResult finish() {
    while (std::ranges::any_of(ranks_, &RunningRank::is_rank_process_running)) wait_and_see();
    warden_.kill_namespace_processes();  // now every stream ends, whichever process held it
    while (std::ranges::any_of(ranks_, is_heard)) wait_and_see();
    RankRunResult result{.seconds = seconds(), .failure = failure_};
    for (const RunningRank& rank : ranks_) result.ranks.push_back(rank.end);
    return result;
  }

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  /// Waits until something happens and handles it.
  void wait_and_see() {
    std::vector<pollfd> watched{{.fd = options_.stop_fd, .events = POLLIN}};
    for (const RunningRank& rank : ranks_) {
      for (const int fd :
           {rank.out.pipe.read.get(), rank.err.pipe.read.get(), rank.process_exit_fd()}) {
        watched.push_back({.fd = fd, .events = POLLIN});  // poll ignores closed ones
      }
    }
    ::poll(watched.data(), watched.size(), milliseconds_left());
    if (watched[0].revents != 0) heed_stop();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const pollfd* of_rank = &watched[1 + 3 * i];
      if (of_rank[0].revents != 0) ranks_[i].out.copy_available_output(options_.out);
      if (of_rank[1].revents != 0) ranks_[i].err.copy_available_output(options_.err);
      if (of_rank[2].revents != 0) take_end(ranks_[i]);
    }
    options_.out.flush();
    options_.err.flush();
    if (!options_.out || !options_.err) stop("the output of the ranks cannot be written");
    heed_deadline();
  }

  /// Returns the milliseconds until the next deadline; -1: no deadline.
  [[nodiscard]] int milliseconds_left() const {
    if (!deadline_) return -1;
    return static_cast<int>(std::ceil(std::clamp(*deadline_ - seconds(), 0.0, 1e6) * 1e3));
  }

  void heed_stop() {
    std::array<char, 128> signals{};
    static_cast<void>(::read(options_.stop_fd, signals.data(), signals.size()) < 0);
    if (stopping_) warden_.kill_namespace_processes();
    stop("interrupted");
  }

  void heed_deadline() {
    if (!deadline_ || seconds() < *deadline_) return;
    deadline_.reset();
    if (stopping_) return warden_.kill_namespace_processes();
    const auto first = std::ranges::find_if(ranks_, &RunningRank::is_rank_process_running);
    if (first == ranks_.end()) return;
    stop(fmt::format("{} of {} ranks had not ended after {} s, rank {} on node {} among them",
                     std::ranges::count_if(ranks_, &RunningRank::is_rank_process_running),
                     ranks_.size(), options_.timeout_s, first->end.rank, first->end.node));
  }

  void take_end(RunningRank& rank) {
    rank.wait_for_process_end(seconds());
    if (rank.end.exit_code != 0 || rank.end.signal != 0) stop(describe_rank_end(rank.end));
  }

  /// Asks all ranks to end; only the first reason is recorded.
  void stop(const std::string& reason) {
    if (stopping_) return;
    stopping_ = true;
    failure_ = reason;
    deadline_ = seconds() + options_.grace_s;
    for (const RunningRank& rank : ranks_) rank.send_sigterm();
  }

  const RankRunOptions& options_;
  Clock::time_point begin_ = Clock::now();
  NamespaceWarden warden_;
  std::vector<RunningRank> ranks_;
  /// Deadline of the run; while stopping, of the grace; nullopt: none.
  std::optional<double> deadline_;
  bool stopping_ = false;
  std::string failure_;
};

}  // namespace

RankRunResult run_rank_programs(std::span<const RankProgramStart> ranks,
                                std::int64_t ranks_per_node, const RankRunOptions& options) {
  RankRun run(options);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    run.start(ranks[i], static_cast<std::int64_t>(i) / ranks_per_node);
  }
  return run.finish();
}

}  // namespace stepwright::lab
