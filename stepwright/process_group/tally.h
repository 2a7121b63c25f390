#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace stepwright::process_group {

/// Counts the collective calls of a process group by operation: those run by schedules, and those
/// passed to the wrapped backend, with the reason.
class CollectiveCallCounter {
 public:
  /// Number of collective calls, and the sum of their bytes.
  struct CallCountAndBytes {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;  ///< Bytes of the calls' full buffers, summed.
  };
  /// Key of the counts: operation, and the reason why the wrapped backend ran it; empty reason: an
  /// explicit schedule of messages ran it.
  using Key = std::pair<std::string, std::string>;

  /// Counts a call of a collective with a full buffer of `bytes` bytes. `reason`: why the wrapped
  /// backend ran it; empty: an explicit schedule of messages ran it.
  void add(const std::string& operation, const std::string& reason, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    CallCountAndBytes& count = counts_[{operation, reason}];
    ++count.calls;
    count.bytes += bytes;
  }
  /// Returns the numbers and bytes of calls so far, by operation and reason.
  [[nodiscard]] std::map<Key, CallCountAndBytes> collective_call_counts() const {
    const std::scoped_lock lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<Key, CallCountAndBytes> counts_;
};

}  // namespace stepwright::process_group
