#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace stepwright::process_group {

/// The pending result of a call that the wrapped backend runs; if the call fails, its error message
/// also says what the other ranks were doing.
class WrappedBackendWork : public c10d::Work {
 public:
  /// `explain`: returns the text that is appended to the error message of a failed call.
  WrappedBackendWork(c10::intrusive_ptr<c10d::Work> inner, std::function<std::string()> explain)
      : Work(-1, inner->retrieveOpType()), inner_(std::move(inner)), explain_(std::move(explain)) {}

  bool isCompleted() override { return inner_->isCompleted(); }
  bool isSuccess() const override { return inner_->isSuccess(); }
  std::exception_ptr exception() const override { return inner_->exception(); }
  int sourceRank() const override { return inner_->sourceRank(); }
  std::vector<at::Tensor> result() override { return inner_->result(); }
  void synchronize() override { inner_->synchronize(); }
  bool wait(std::chrono::milliseconds timeout) override;
  void abort() override { inner_->abort(); }
  void blockCurrentStream() override { inner_->blockCurrentStream(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return inner_->getFuture(); }
  std::uint64_t getSequencenumber() const override { return inner_->getSequencenumber(); }

 private:
  c10::intrusive_ptr<c10d::Work> inner_;
  std::function<std::string()> explain_;
};

/// The pending results of several calls, joined into one.
class CombinedPendingWork : public c10d::Work {
 public:
  /// `outputs`: the output tensors of all calls.
  CombinedPendingWork(std::vector<c10::intrusive_ptr<c10d::Work>> works,
                      std::vector<at::Tensor> outputs)
      : Work(-1, c10d::OpType::COALESCED), works_(std::move(works)), outputs_(std::move(outputs)) {}

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  std::vector<at::Tensor> result() override { return outputs_; }
  void synchronize() override;
  bool wait(std::chrono::milliseconds timeout) override;
  void abort() override;
  /// Returns a future that completes when all joined calls have; throws if one has no future (sends
  /// and receives).
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
  std::vector<c10::intrusive_ptr<c10d::Work>> works_;
  std::vector<at::Tensor> outputs_;
};

}  // namespace stepwright::process_group
