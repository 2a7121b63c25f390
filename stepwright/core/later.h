#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace stepwright {

/// A value that is computed when it is first read, by the reading thread, and then stays constant.
/// Several threads may read it.
template <class LazyValue>
class Later {
 public:
  explicit Later(LazyValue value) : made_(true), value_(std::move(value)) {}
  explicit Later(std::function<LazyValue()> compute_value)
      : made_(false), make_(std::move(compute_value)) {}

  /// Returns the value; the first call computes it. If the computation throws, the exception is
  /// passed on, and the next call computes again.
  const LazyValue& get() const {
    if (!made_.load(std::memory_order_acquire)) compute_value();
    return *value_;
  }

 private:
  /// Computes the value once. `std::call_once` is not used because it hangs on some platforms if
  /// the function throws (GCC bug 66146), and under the thread sanitizer.
  void compute_value() const {
    const std::lock_guard lock(mutex_);
    if (made_.load(std::memory_order_relaxed)) return;
    value_ = make_();
    made_.store(true, std::memory_order_release);
  }

  mutable std::mutex mutex_;
  mutable std::atomic<bool> made_;
  mutable std::optional<LazyValue> value_;
  std::function<LazyValue()> make_;
};

}  // namespace stepwright
