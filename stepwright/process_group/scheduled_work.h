#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <exception>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace stepwright::process_group {

/// The pending result of a collective that runs by a schedule; the thread that runs it completes
/// it. Keeps the output tensors alive.
class ScheduledCollectiveWork : public c10d::Work {
 public:
  /// Identifies a collective call: the rank, the operation, and the call's number among those of
  /// its process group.
  struct CollectiveCallIdentity {
    int rank = 0;
    c10d::OpType type{};
    /// Number of the collective call among all calls of its process group, in the order of the
    /// calls.
    std::uint64_t number = 0;
  };
  /// `outputs`: output tensors, kept alive until the call is done.
  ScheduledCollectiveWork(const CollectiveCallIdentity& place, const std::string& title,
                          const std::vector<at::Tensor>& inputs, std::vector<at::Tensor> outputs)
      : Work(place.rank, place.type, title.c_str(), inputs),
        outputs_(std::move(outputs)),
        number_(place.number),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {}

  /// Marks the call as done, with its outputs. Call either this or `fail`, and only once.
  void mark_succeeded() {
    future_->markCompleted(c10::IValue(outputs_));
    finish();
  }
  void fail(const std::exception_ptr& failure) {
    future_->setError(failure);
    finish(failure);
  }

  std::vector<at::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }
  std::uint64_t getSequencenumber() const override { return number_; }

 private:
  std::vector<at::Tensor> outputs_;
  std::uint64_t number_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace stepwright::process_group
