#include "stepwright/process_group/c10d_transport.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "stepwright/core/error.h"

namespace stepwright::process_group {

namespace {

/// Returns bytes as a tensor that a process group can send or receive.
at::Tensor tensor_of(const std::byte* bytes, std::size_t size) {
  return at::from_blob(const_cast<std::byte*>(bytes), {static_cast<std::int64_t>(size)}, at::kByte);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

/// One message; it is registered with its transport while it exists, so that `abort` reaches it.
class C10dTransfer : public transport::MessageTransfer {
 public:
  C10dTransfer(C10dTransport& transport, c10::intrusive_ptr<c10d::Work> work, std::string what)
      : transport_(transport), work_(std::move(work)), what_(std::move(what)) {
    transport_.register_work(work_.get());
  }
  ~C10dTransfer() override { transport_.forget(work_.get()); }

  void wait_for_transfer() override {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        transport_.deadline_ - std::chrono::steady_clock::now());
    bool over = false;
    try {
      over = work_->wait(std::max(left, std::chrono::milliseconds(1)));
    } catch (const std::exception& error) {
      throw Error(ErrorKind::kRuntime, fmt::format("{}: {}", what_, first_line(error.what())));
    }
    if (!over) throw Error(ErrorKind::kRuntime, what_ + ": aborted");
  }

 private:
  C10dTransport& transport_;
  c10::intrusive_ptr<c10d::Work> work_;
  std::string what_;
};

C10dTransport::C10dTransport(std::vector<c10::intrusive_ptr<c10d::Backend>> lanes) {
  for (auto& lane : lanes) lanes_.push_back({std::move(lane), std::make_unique<std::mutex>()});
}

void C10dTransport::begin(std::chrono::milliseconds timeout) {
  deadline_ = std::chrono::steady_clock::now() + timeout;
}

template <typename Start>
std::unique_ptr<transport::MessageTransfer> C10dTransport::started(const char* what, int lane,
                                                                   std::int32_t peer, Start start) {
  if (lane >= static_cast<int>(lanes_.size())) {
    throw Error(ErrorKind::kRuntime, fmt::format("lane {} is closed", lane));
  }
  Lane& used = lanes_[static_cast<std::size_t>(lane)];
  std::string name = fmt::format("{} rank {}", what, peer);
  // Starting may itself wait for a peer: connections are made when they are first used.
  if (std::chrono::steady_clock::now() > deadline_) {
    throw Error(ErrorKind::kRuntime, name + ": no time is left");
  }
  c10::intrusive_ptr<c10d::Work> work;
  try {
    const std::scoped_lock lock(*used.mutex);
    work = start(*used.backend);
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kRuntime, fmt::format("{}: {}", name, first_line(error.what())));
  }
  return std::make_unique<C10dTransfer>(*this, std::move(work), std::move(name));
}

std::unique_ptr<transport::MessageTransfer> C10dTransport::start_send(
    int lane, std::int32_t peer, std::span<const std::byte> bytes) {
  return started("send to", lane, peer, [&](c10d::Backend& backend) {
    std::vector<at::Tensor> tensors{tensor_of(bytes.data(), bytes.size())};
    return backend.send(tensors, peer, 0);
  });
}

std::unique_ptr<transport::MessageTransfer> C10dTransport::start_receive(
    int lane, std::int32_t peer, std::span<std::byte> bytes) {
  return started("receive from", lane, peer, [&](c10d::Backend& backend) {
    std::vector<at::Tensor> tensors{tensor_of(bytes.data(), bytes.size())};
    return backend.recv(tensors, peer, 0);
  });
}

void C10dTransport::register_work(c10d::Work* work) {
  const std::scoped_lock lock(mutex_);
  if (aborted_) throw Error(ErrorKind::kRuntime, "aborted");
  live_.insert(work);
}

void C10dTransport::forget(c10d::Work* work) {
  const std::scoped_lock lock(mutex_);
  live_.erase(work);
}

void C10dTransport::abort() noexcept {
  const std::scoped_lock lock(mutex_);
  aborted_ = true;
  for (c10d::Work* work : live_) {
    try {
      work->abort();
    } catch (const std::exception&) {
      continue;  // The work has already failed by itself.
    }
  }
}

void C10dTransport::close() { lanes_.clear(); }

}  // namespace stepwright::process_group
