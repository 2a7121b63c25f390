#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "stepwright/runtime/rank/rank_device.h"

namespace stepwright::runtime {
namespace {

/// Returns Gloo's device: on the network interface that GLOO_SOCKET_IFNAME names, as in Python;
/// else on the one to which the host's name resolves.
std::shared_ptr<gloo::transport::Device> gloo_device() {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface == nullptr || *interface == '\0') {
    return c10d::ProcessGroupGloo::createDefaultDevice();
  }
  const std::string names = interface;
  return c10d::ProcessGroupGloo::createDeviceForInterface(names.substr(0, names.find(',')));
}

class Cpu final : public RankDevice {
 public:
  [[nodiscard]] at::Device torch_device() const override { return at::kCPU; }
  [[nodiscard]] bool starts_operators_asynchronously() const override { return false; }
  void create_device_queue_for_thread() override {}
  [[nodiscard]] DeviceMark record_device_event() override { return nullptr; }
  void wait_for_device_event(const DeviceMark& /*record_device_event*/) override {}
  void keep_tensor_for_current_queue(const at::Tensor& /*tensor*/) override {}
  void finish() override {}

  [[nodiscard]] c10::intrusive_ptr<c10d::Backend> create_process_group_backend(
      const ProcessGroupArguments& place) override {
    const auto options = c10d::ProcessGroupGloo::Options::create(place.timeout);
    options->devices.push_back(gloo_device());
    options->threads = 1;
    return c10::make_intrusive<c10d::ProcessGroupGloo>(place.store, place.rank, place.size,
                                                       options);
  }
};

}  // namespace

std::unique_ptr<RankDevice> cpu_device() { return std::make_unique<Cpu>(); }

}  // namespace stepwright::runtime
