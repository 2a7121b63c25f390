#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace stepwright::transport {

/// A message between two ranks that is being sent or received.
class MessageTransfer {
 public:
  MessageTransfer() = default;
  MessageTransfer(const MessageTransfer&) = delete;
  MessageTransfer& operator=(const MessageTransfer&) = delete;
  virtual ~MessageTransfer() = default;

  /// Waits until the caller may use the message's memory again: it was received, or its bytes were
  /// read for sending. Throws if the message can no longer arrive.
  virtual void wait_for_transfer() = 0;
};

/// Sends and receives messages between the ranks of a group. Messages of one lane between two ranks
/// arrive in the order in which they were sent; each must be as long as its receive. Each lane may
/// have one sending and one receiving thread.
class MessageTransport {
 public:
  MessageTransport() = default;
  MessageTransport(const MessageTransport&) = delete;
  MessageTransport& operator=(const MessageTransport&) = delete;
  virtual ~MessageTransport() = default;

  /// Starts to send a message; `bytes` must stay unchanged until `wait_for_transfer` has returned.
  virtual std::unique_ptr<MessageTransfer> start_send(int lane, std::int32_t peer,
                                                      std::span<const std::byte> bytes) = 0;

  /// Starts to receive a message of exactly the length of `bytes`.
  virtual std::unique_ptr<MessageTransfer> start_receive(int lane, std::int32_t peer,
                                                         std::span<std::byte> bytes) = 0;

  /// Cancels all messages in flight, whose `wait_for_transfer` then throws, and refuses new ones.
  virtual void abort() noexcept = 0;
};

}  // namespace stepwright::transport
