#include "tests/transport/thread_transport.h"

#include <algorithm>

#include "stepwright/core/error.h"

namespace stepwright::transport {
namespace {

class ThreadTransfer : public MessageTransfer {
 public:
  ThreadTransfer(ThreadSwitch& hub, std::shared_ptr<ThreadSwitch::Message> message)
      : hub_(hub), message_(std::move(message)) {}
  void wait_for_transfer() override { hub_.wait(*message_); }

 private:
  ThreadSwitch& hub_;
  std::shared_ptr<ThreadSwitch::Message> message_;
};

}  // namespace

std::shared_ptr<ThreadSwitch::Message> ThreadSwitch::send(const Way& way,
                                                          std::span<const std::byte> bytes) {
  const std::scoped_lock lock(mutex_);
  Queues& queues = queues_[way];
  queues.sends.push_back(std::make_shared<Message>(Message{.from = bytes}));
  std::shared_ptr<Message> message = queues.sends.back();
  match(queues);
  return message;
}

std::shared_ptr<ThreadSwitch::Message> ThreadSwitch::receive(const Way& way,
                                                             std::span<std::byte> bytes) {
  const std::scoped_lock lock(mutex_);
  Queues& queues = queues_[way];
  queues.receives.push_back(std::make_shared<Message>(Message{.to = bytes}));
  std::shared_ptr<Message> message = queues.receives.back();
  match(queues);
  return message;
}

void ThreadSwitch::match(Queues& queues) {
  while (!closed_ && !queues.sends.empty() && !queues.receives.empty()) {
    Message& sent = *queues.sends.front();
    Message& received = *queues.receives.front();
    if (sent.from.size() != received.to.size()) {
      throw Error(ErrorKind::kRuntime, "a message and its receive differ in length");
    }
    std::ranges::copy(sent.from, received.to.begin());
    sent.over = true;
    received.over = true;
    queues.sends.pop_front();
    queues.receives.pop_front();
  }
  changed_.notify_all();
}

void ThreadSwitch::wait(const Message& message) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return message.over || closed_; });
  if (!message.over) throw Error(ErrorKind::kRuntime, "the switch is closed");
}

void ThreadSwitch::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

std::unique_ptr<MessageTransfer> ThreadTransport::start_send(int lane, std::int32_t peer,
                                                             std::span<const std::byte> bytes) {
  return std::make_unique<ThreadTransfer>(hub_, hub_.send({lane, rank_, peer}, bytes));
}

std::unique_ptr<MessageTransfer> ThreadTransport::start_receive(int lane, std::int32_t peer,
                                                                std::span<std::byte> bytes) {
  return std::make_unique<ThreadTransfer>(hub_, hub_.receive({lane, peer, rank_}, bytes));
}

}  // namespace stepwright::transport
