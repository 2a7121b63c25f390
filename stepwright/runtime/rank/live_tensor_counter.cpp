#include "stepwright/runtime/rank/live_tensor_counter.h"

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstring>

namespace stepwright::runtime {
namespace {

std::atomic<std::int64_t> allocated_now{0};
std::atomic<std::int64_t> allocated_peak{0};

at::Allocator* allocator_below = nullptr;

/// Bytes in front of a block that hold its size and keep its alignment.
constexpr std::size_t kHeaderBytes = 64;

void free_counted(void* data) {
  if (data == nullptr) return;
  void* block = static_cast<char*>(data) - kHeaderBytes;
  std::size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof(bytes));
  allocated_now -= static_cast<std::int64_t>(bytes);
  allocator_below->raw_deallocate(block);
}

/// PyTorch's CPU allocator, extended to count bytes.
class CountingAllocator final : public at::Allocator {
 public:
  at::DataPtr allocate(std::size_t bytes) override {
    void* data = nullptr;
    if (bytes > 0) {
      void* block = allocator_below->raw_allocate(bytes + kHeaderBytes);
      std::memcpy(block, &bytes, sizeof(bytes));
      data = static_cast<char*>(block) + kHeaderBytes;
      count(static_cast<std::int64_t>(bytes));
    }
    return {data, data, free_counted, at::Device(at::DeviceType::CPU)};
  }

  [[nodiscard]] at::DeleterFnPtr raw_deleter() const override { return free_counted; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

 private:
  static void count(std::int64_t bytes) {
    const std::int64_t now = allocated_now += bytes;
    std::int64_t peak = allocated_peak;
    while (now > peak && !allocated_peak.compare_exchange_weak(peak, now)) {
    }
  }
};

}  // namespace

void start_counting_cpu_allocations() {
  static CountingAllocator counting;
  allocator_below = at::GetCPUAllocator();
  constexpr std::uint8_t kAboveDefault = 1;
  at::SetCPUAllocator(&counting, kAboveDefault);
}

CpuAllocatedBytes allocated_bytes() { return {allocated_now, allocated_peak}; }

void reset_cpu_allocation_peak() { allocated_peak = allocated_now.load(); }

void LiveTensorCounter::add(const at::Tensor& value, step::TensorPurpose kind) {
  const std::scoped_lock lock(mutex_);
  now_.kinds[static_cast<std::size_t>(kind)] += static_cast<double>(value.nbytes());
  const auto& buffer = value.storage();
  if (holders_[buffer.unsafeGetStorageImpl()]++ == 0) {
    now_.buffers += static_cast<double>(buffer.nbytes());
  }
}

void LiveTensorCounter::remove(const at::Tensor& value, step::TensorPurpose kind) {
  const std::scoped_lock lock(mutex_);
  now_.kinds[static_cast<std::size_t>(kind)] -= static_cast<double>(value.nbytes());
  const auto& buffer = value.storage();
  const auto holder = holders_.find(buffer.unsafeGetStorageImpl());
  if (--holder->second > 0) return;
  now_.buffers -= static_cast<double>(buffer.nbytes());
  holders_.erase(holder);
}

void LiveTensorCounter::raise_peak_to_held_bytes() {
  const std::scoped_lock lock(mutex_);
  if (memory::total_bytes(now_.kinds) > memory::total_bytes(peak_.kinds)) peak_ = now_;
}

void LiveTensorCounter::begin_step() {
  const std::scoped_lock lock(mutex_);
  peak_ = now_;
}

LiveTensorBytes LiveTensorCounter::live_bytes_at_peak() const {
  const std::scoped_lock lock(mutex_);
  return peak_;
}

}  // namespace stepwright::runtime
