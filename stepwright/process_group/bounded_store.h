#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "stepwright/transport/bounded_calls.h"

namespace stepwright::process_group {

/// A store, served by another process, in which every call ends: c10d's TCP store waits without a
/// limit for the bytes of an answer, and the serving process may hang.
class BoundedStore : public c10d::Store {
 public:
  using Pointer = c10::intrusive_ptr<c10d::Store>;
  /// The limits of calls.
  struct Limits {
    /// How long a call may take in addition to its own wait for keys.
    std::chrono::milliseconds patience{};
    std::string silent;  ///< Error message when a call takes longer; all later calls then fail.
  };
  BoundedStore(Pointer store, Limits limits);
  /// Opens a store; opening may hang as well. Throws what `open` throws, or `kRuntime` with
  /// `silent`.
  BoundedStore(const std::function<Pointer()>& open, Limits limits);

  /// Returns another connection to the same store, whose calls do not wait for this one's.
  Pointer clone() override;
  /// Returns another connection to the same store, with its own `Limits::patience`.
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
  /// Runs `act` on the store and returns its result. `waits`: how long `act` may wait for a key.
  template <class Act>
  auto answer(std::chrono::milliseconds waits, Act act);

  Limits limits_;
  transport::BoundedCalls calls_;
  Pointer store_;
};

}  // namespace stepwright::process_group
