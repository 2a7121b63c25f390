#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace stepwright::process_group {

/// The count of a group's calls: run as a schedule, or given to the wrapped backend and why.
class Tally {
 public:
  /// Calls of one kind.
  struct Count {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;  ///< Bytes of full buffers.
  };
  using Key = std::pair<std::string, std::string>;  ///< Operation; reason, or empty.

  /// Counts a call with a full buffer of so many bytes; `reason` empty: scheduled.
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
