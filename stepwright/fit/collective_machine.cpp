#include "stepwright/fit/collective_machine.h"

#include <algorithm>

namespace stepwright {
namespace {

constexpr SampledMachine kMachines[] = {
    {.name = "a100-sxm-80g", .cluster = "dgx-a100-80g", .gpu = "A100-SXM-80GB"},
    {.name = "h100-sxm-80g", .cluster = "dgx-h100", .gpu = "H100-SXM-80GB"},
    {.name = "h200-sxm", .cluster = "dgx-h200", .gpu = "H200-SXM-141GB"},
    {.name = "b200-sxm", .cluster = "dgx-b200", .gpu = "B200-SXM"},
    {.name = "b300-sxm", .cluster = "dgx-b300", .gpu = "B300-SXM"},
    {.name = "gb200", .cluster = "gb200-nvl72", .gpu = "GB200", .trays = true},
    {.name = "gb300", .cluster = "gb300-nvl72", .gpu = "GB300", .trays = true},
    {.name = "v100-4gpu", .cluster = "v100-4gpu", .gpu = "V100-16GB"},
    {.name = "gcp-a2-a100",
     .cluster = "gcp-a2-a100",
     .gpu = "A100-40GB (GCP a2-highgpu, 4-GPU)",
     .network = "GCP"},
    {.name = "alps-gh200", .cluster = "alps-gh200", .gpu = "GH200-96GB", .network = "Slingshot"},
    {.name = "azure-ndv4-a100",
     .cluster = "azure-ndv4-a100",
     .gpu = "A100-SXM-40GB",
     .network = "8x200Gb/s HDR"},
    {.name = "aws-p4de-a100",
     .cluster = "aws-p4de-a100",
     .gpu = "A100-SXM4-80GB",
     .network = "EFA",
     .inside = "a100-sxm-80g"},
    {.name = "aws-p5-h100",
     .cluster = "aws-p5-h100",
     .gpu = "H100-SXM5-80GB",
     .network = "EFA",
     .inside = "h100-sxm-80g"},
    {.name = "dgx-h100",
     .cluster = "dgx-h100",
     .gpu = "H100-SXM-80GB",
     .network = "8x400Gb/s InfiniBand NDR",
     .inside = "h100-sxm-80g"},
    {.name = "h100-infiniband",
     .cluster = "h100-infiniband",
     .gpu = "H100-SXM-80GB",
     .network = "InfiniBand 400G",
     .inside = "h100-sxm-80g"},
    {.name = "gcp-a4-b200",
     .cluster = "gcp-a4-b200",
     .gpu = "B200",
     .network = "GCP A4",
     .inside = "b200-sxm"},
    {.name = "a100_sxm4_80g_perlmutter", .cluster = "a100_sxm4_80g_perlmutter"},
    {.name = "gh200_120g_vista", .cluster = "gh200_120g_vista"},
};

/// Whether the network that a table writes beside a row is the machine's.
bool joined_by(const SampledMachine& machine, std::string_view network) {
  return machine.trays || (!machine.network.empty() && network.starts_with(machine.network));
}

}  // namespace

std::span<const SampledMachine> sampled_machines() { return kMachines; }

const SampledMachine* find_machine(std::string_view name) {
  const auto found = std::ranges::find(kMachines, name, &SampledMachine::name);
  return found == std::end(kMachines) ? nullptr : &*found;
}

const SampledMachine* machine_of(std::string_view gpu, std::string_view network, bool many_nodes) {
  const SampledMachine* first = nullptr;
  for (const SampledMachine& machine : kMachines) {
    if (machine.gpu.empty() || machine.gpu != gpu) continue;
    if (!many_nodes || joined_by(machine, network)) return &machine;
    if (first == nullptr) first = &machine;
  }
  return first;
}

}  // namespace stepwright
