#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "stepwright/transport/transport.h"

namespace stepwright::process_group {

/// Sends messages between ranks by the point-to-point operations of torch.distributed backends, one
/// backend per lane, so that lanes do not wait for each other. Used by one collective at a time.
class C10dTransport : public transport::MessageTransport {
 public:
  /// `lanes[k]`: backend that carries the messages of lane k; all backends have the same ranks.
  explicit C10dTransport(std::vector<c10::intrusive_ptr<c10d::Backend>> lanes);

  /// Sets the time limit for the next collective: every wait ends within `timeout`, with an error
  /// if the message has not arrived.
  void begin(std::chrono::milliseconds timeout);

  std::unique_ptr<transport::MessageTransfer> start_send(int lane, std::int32_t peer,
                                                         std::span<const std::byte> bytes) override;
  std::unique_ptr<transport::MessageTransfer> start_receive(int lane, std::int32_t peer,
                                                            std::span<std::byte> bytes) override;
  void abort() noexcept override;

  /// Releases the backends, which closes their connections, so that messages of the peers fail.
  /// Call it after `abort` and not during a collective.
  void close();

 private:
  friend class C10dTransfer;
  struct Lane {
    c10::intrusive_ptr<c10d::Backend> backend;
    std::unique_ptr<std::mutex> mutex;
  };

  template <typename Start>
  std::unique_ptr<transport::MessageTransfer> started(const char* what, int lane, std::int32_t peer,
                                                      Start start);
  void register_work(c10d::Work* work);
  void forget(c10d::Work* work);

  std::vector<Lane> lanes_;
  std::chrono::steady_clock::time_point deadline_;
  std::mutex mutex_;
  std::set<c10d::Work*> live_;
  bool aborted_ = false;
};

}  // namespace stepwright::process_group
