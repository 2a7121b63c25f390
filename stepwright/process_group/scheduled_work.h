#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <exception>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace stepwright::process_group {

/// The work of a scheduled collective, completed by the thread that runs it. Keeps its outputs
/// alive.
class ScheduledWork : public c10d::Work {
 public:
  /// Identifies one call of a group.
  struct Place {
    int rank = 0;
    c10d::OpType type{};
    std::uint64_t number = 0;  ///< Number of the call in its group.
  };
  /// `outputs` are kept alive until the work is done.
  ScheduledWork(const Place& place, const std::string& title, const std::vector<at::Tensor>& inputs,
                std::vector<at::Tensor> outputs)
      : Work(place.rank, place.type, title.c_str(), inputs),
        outputs_(std::move(outputs)),
        number_(place.number),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {}

  /// Completes the work with its outputs. Call either this or `fail`, once.
  void succeed() {
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
