#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "stepwright/transport/bounded_calls.h"

namespace stepwright::process_group {

/// A c10d store in which every call ends in bounded time. c10d's own TCP store waits forever if the
/// process that serves it hangs.
class TimeLimitedStore : public c10d::Store {
 public:
  using Pointer = c10::intrusive_ptr<c10d::Store>;
  /// The time limit of a store's calls, and the error message when it is exceeded.
  struct StoreTimeLimits {
    /// Longest time that a call may take in addition to the time for which it waits for keys.
    std::chrono::milliseconds patience{};
    /// Error message for a call that exceeds the limit; all later calls then fail at once.
    std::string silent;
  };
  TimeLimitedStore(Pointer store, StoreTimeLimits limits);
  /// Opens a store with the function `open`, which may hang as well. Throws what `open` throws, or
  /// `kRuntime` with the message `silent` if it takes too long.
  TimeLimitedStore(const std::function<Pointer()>& open, StoreTimeLimits limits);

  /// Opens another connection to the same store, so that its calls need not wait for calls on this
  /// one.
  Pointer clone() override;
  /// Opens another connection to the same store, with another time limit
  /// (`StoreTimeLimits::patience`).
  Pointer clone(std::chrono::milliseconds patience);

  using Store::set;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
  using Store::compareSet;
  std::vector<std::uint8_t> compareSet(const std::string& key,
                                       const std::vector<std::uint8_t>& expected,
                                       const std::vector<std::uint8_t>& desired) override;
  std::vector<std::uint8_t> get(const std::string& key) override;
  std::int64_t add(const std::string& key, std::int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  std::int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;
  void append(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::vector<std::uint8_t>> multiGet(const std::vector<std::string>& keys) override;
  void multiSet(const std::vector<std::string>& keys,
                const std::vector<std::vector<std::uint8_t>>& values) override;
  [[nodiscard]] bool hasExtendedApi() const override { return store_->hasExtendedApi(); }
  [[nodiscard]] const std::chrono::milliseconds& getTimeout() const noexcept override {
    return store_->getTimeout();
  }
  void setTimeout(const std::chrono::milliseconds& timeout) override {
    store_->setTimeout(timeout);
  }

 private:
  /// Runs `act` on the store in bounded time and returns its result. `waits`: how long `act` may
  /// wait for a key.
  template <class BoundedStoreOperation>
  auto answer(std::chrono::milliseconds waits, BoundedStoreOperation act);

  StoreTimeLimits limits_;
  transport::TimeBoundedCalls calls_;
  Pointer store_;
};

}  // namespace stepwright::process_group
