#include "stepwright/process_group/runner.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <utility>

#include "stepwright/core/error.h"

namespace stepwright::process_group {
namespace {

/// How long a rank that failed waits for other ranks to post what they were doing.
constexpr std::chrono::milliseconds kGrace{2000};

}  // namespace

std::exception_ptr CollectiveCallRunner::failure(const std::string& text) {
  return std::make_exception_ptr(
      c10::DistBackendError({__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)}, text));
}

void CollectiveCallRunner::add(QueuedCollectiveCall job) {
  std::unique_lock lock(mutex_);
  if (!broken_.empty()) {
    const std::string text = fmt::format("stepwright: {}: {}", job.call.text, broken_);
    lock.unlock();
    job.work->fail(failure(text));
    return;
  }
  queue_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  lock.unlock();
  changed_.notify_all();
}

bool CollectiveCallRunner::finish(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return queue_.empty() && !busy_; });
}

void CollectiveCallRunner::stop_and_refuse_calls(const std::string& reason) {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    if (broken_.empty()) broken_ = reason;
  }
  engine_.abort();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  engine_.close();
}

void CollectiveCallRunner::serve() {
  const at::NoGradGuard no_gradients;
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    QueuedCollectiveCall job = std::move(queue_.front());
    queue_.pop_front();
    const std::string refused = broken_;
    busy_ = true;
    lock.unlock();
    if (refused.empty()) {
      run(job);
    } else {
      job.work->fail(failure(fmt::format("stepwright: {}: {}", job.call.text, refused)));
    }
    job = {};  // Tensors are freed before anyone is told that all is done.
    lock.lock();
    busy_ = false;
    lock.unlock();
    changed_.notify_all();
  }
}

void CollectiveCallRunner::run(const QueuedCollectiveCall& job) {
  std::string text;
  try {
    engine_.run_collective_call(job.call);
    if (job.after) job.after();
  } catch (const Error& error) {
    text = error.what();
    // Neighbours learn of the failure by the closed connection, before this rank asks the others.
    break_off(text);
    if (error.kind() != ErrorKind::kInput)
      text += board_.compare_failed_calls(job.call.text, kGrace);
  } catch (const std::exception& error) {
    text = error.what();
  }
  if (text.empty()) return job.work->mark_succeeded();
  const std::string whole =
      fmt::format("stepwright: {} failed on rank {}: {}", job.call.text, rank_, text);
  break_off(whole);
  job.work->fail(failure(whole));
}

void CollectiveCallRunner::break_off(const std::string& reason) {
  {
    const std::scoped_lock lock(mutex_);
    if (broken_.empty()) broken_ = "an earlier collective of this group has failed: " + reason;
  }
  engine_.abort();
  engine_.close();
}

}  // namespace stepwright::process_group
