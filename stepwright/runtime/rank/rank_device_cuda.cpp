#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "stepwright/core/error.h"
#include "stepwright/runtime/rank/rank_device.h"

namespace stepwright::runtime {
namespace {

/// One CUDA device: a queue is a stream of each thread, a mark an event.
class Cuda final : public RankDevice {
 public:
  explicit Cuda(c10::DeviceIndex index) : index_(index) { c10::cuda::set_device(index); }

  [[nodiscard]] at::Device torch_device() const override { return {at::kCUDA, index_}; }
  [[nodiscard]] bool starts_operators_asynchronously() const override { return true; }

  void create_device_queue_for_thread() override {
    c10::cuda::set_device(index_);
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(false, index_));
  }

  [[nodiscard]] DeviceMark record_device_event() override {
    auto event = std::make_shared<c10::cuda::CUDAEvent>();
    event->record(c10::cuda::getCurrentCUDAStream(index_));
    return event;
  }

  void wait_for_device_event(const DeviceMark& mark) override {
    if (mark == nullptr) return;
    static_cast<c10::cuda::CUDAEvent*>(mark.get())->block(c10::cuda::getCurrentCUDAStream(index_));
  }

  void keep_tensor_for_current_queue(const at::Tensor& tensor) override {
    c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(),
                                                  c10::cuda::getCurrentCUDAStream(index_));
  }

  void finish() override { c10::cuda::device_synchronize(); }

  [[nodiscard]] c10::intrusive_ptr<c10d::Backend> create_process_group_backend(
      const ProcessGroupArguments& place) override {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = place.timeout;
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(place.store, place.rank, place.size,
                                                       std::move(options));
  }

 private:
  c10::DeviceIndex index_;
};

}  // namespace

bool has_cuda_device() { return c10::cuda::device_count() > 0; }

std::unique_ptr<RankDevice> cuda_device(std::int64_t rank_on_this_machine) {
  const auto devices = static_cast<std::int64_t>(c10::cuda::device_count());
  if (rank_on_this_machine >= devices) {
    fail_input(fmt::format("--device: cuda, but rank {} of this machine finds {} CUDA devices",
                           rank_on_this_machine, devices));
  }
  return std::make_unique<Cuda>(static_cast<c10::DeviceIndex>(rank_on_this_machine));
}

}  // namespace stepwright::runtime
