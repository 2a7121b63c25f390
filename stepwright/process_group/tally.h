#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace stepwright::process_group {

/// Counts a group's calls: those run as a schedule, and those passed to the wrapped backend, by
/// reason.
class CallTally {
 public:
  /// Number and bytes of calls of one kind.
  struct Count {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;  ///< Bytes of full buffers.
  };
  /// Operation, and the reason why the wrapped backend ran it; empty: scheduled.
  using Key = std::pair<std::string, std::string>;

  /// Counts a call with a full buffer of `bytes` bytes. `reason` empty: it was scheduled.
  void add(const std::string& operation, const std::string& reason, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    Count& count = counts_[{operation, reason}];
    ++count.calls;
    count.bytes += bytes;
  }
  /// Returns the counts so far.
  [[nodiscard]] std::map<Key, Count> counts() const {
    const std::scoped_lock lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<Key, Count> counts_;
};

}  // namespace stepwright::process_group
