#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>

#include "stepwright/transport/transport.h"

namespace stepwright::transport {

/// Carries messages between the ranks of a group, which are threads of one process. A send returns
/// only when it was received: nothing is buffered.
class ThreadSwitch {
 public:
  /// A send or receive that waits for its other end.
  struct Message {
    std::span<const std::byte> from;
    std::span<std::byte> to;
    bool over = false;
  };
  /// The key of a flow: lane, sender, receiver.
  using Way = std::tuple<int, std::int32_t, std::int32_t>;

  std::shared_ptr<Message> send(const Way& way, std::span<const std::byte> bytes);
  std::shared_ptr<Message> receive(const Way& way, std::span<std::byte> bytes);
  /// Waits until the message was delivered; throws if the switch is closed first.
  void wait(const Message& message);
  /// Closes the switch: no further message is delivered to any rank.
  void close();

 private:
  struct Queues {
    std::deque<std::shared_ptr<Message>> sends;
    std::deque<std::shared_ptr<Message>> receives;
  };

  void match(Queues& queues);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Way, Queues> queues_;
  bool closed_ = false;
};

/// One rank's end of a switch.
class ThreadTransport : public MessageTransport {
 public:
  ThreadTransport(ThreadSwitch& hub, std::int32_t rank) : hub_(hub), rank_(rank) {}

  std::unique_ptr<MessageTransfer> start_send(int lane, std::int32_t peer,
                                              std::span<const std::byte> bytes) override;
  std::unique_ptr<MessageTransfer> start_receive(int lane, std::int32_t peer,
                                                 std::span<std::byte> bytes) override;
  void abort() noexcept override { hub_.close(); }

 private:
  ThreadSwitch& hub_;
  std::int32_t rank_;
};

}  // namespace stepwright::transport
