#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace stepwright::transport {

/// A message in flight.
class Transfer {
 public:
  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  virtual ~Transfer() = default;

  /// Returns when the caller may use the message's memory again: the message was received, or its
  /// bytes were read for sending. Throws when the message can no longer arrive.
  virtual void wait() = 0;
};

/// Sends bytes between the ranks of a group. Messages of one lane between two ranks arrive in the
/// order in which they are sent, and are as long as their receives. Called from several threads:
/// one for the sends of a lane and one for its receives.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Starts to send a message; `bytes` must stay alive and unchanged until it is done.
  virtual std::unique_ptr<Transfer> send(int lane, std::int32_t peer,
                                         std::span<const std::byte> bytes) = 0;

  /// Starts to receive a message of exactly this length.
  virtual std::unique_ptr<Transfer> receive(int lane, std::int32_t peer,
                                            std::span<std::byte> bytes) = 0;

  /// Ends all messages in flight, whose waits then throw, and refuses new ones.
  virtual void abort() noexcept = 0;
};

}  // namespace stepwright::transport
