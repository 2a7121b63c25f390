#include "stepwright/fit/samples/sampled_machine.h"

#include <algorithm>
#include <vector>

#include "stepwright/cluster/catalog.h"

namespace stepwright::fit {
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
    {.name = "h800-8gpu", .cluster = "h800-8gpu", .gpu = "H800"},
    {.name = "a800-8gpu", .cluster = "a800-8gpu", .gpu = "A800"},
    {.name = "mi300x-8gpu", .cluster = "mi300x-8gpu", .gpu = "MI300X"},
    {.name = "a40-8gpu-pcie", .cluster = "a40-8gpu-pcie", .gpu = "A40"},
    {.name = "a100_sxm4_80g_perlmutter", .cluster = "a100_sxm4_80g_perlmutter"},
    {.name = "gh200_120g_vista", .cluster = "gh200_120g_vista"},
};

/// Returns the family of a GPU: "H100" of "H100-SXM-80GB".
std::string_view family(std::string_view gpu) { return gpu.substr(0, gpu.find_first_of("- (")); }

/// True if the network in a table's row is the machine's.
bool joined_by(const SampledMachine& machine, std::string_view network) {
  return machine.trays || (!machine.network.empty() && network.starts_with(machine.network));
}

}  // namespace

std::span<const SampledMachine> sampled_machines() {
  static const std::vector<SampledMachine> kAll = [] {
    std::vector<SampledMachine> all(std::begin(kMachines), std::end(kMachines));
    for (const std::string_view cluster : cluster::built_in_cluster_names()) {
      if (std::ranges::find(kMachines, cluster, &SampledMachine::name) == std::end(kMachines)) {
        all.push_back({.name = cluster, .cluster = cluster});
      }
    }
    return all;
  }();
  return kAll;
}

const SampledMachine* find_sampled_machine(std::string_view name) {
  const auto machines = sampled_machines();
  const auto found = std::ranges::find(machines, name, &SampledMachine::name);
  return found == machines.end() ? nullptr : &*found;
}

const SampledMachine* sampled_machine_of_columns(std::string_view gpu, std::string_view network,
                                                 bool many_nodes) {
  const SampledMachine* same = nullptr;
  const SampledMachine* alike = nullptr;
  for (const SampledMachine& machine : sampled_machines()) {
    if (machine.gpu.empty() || gpu.empty()) continue;
    if (alike == nullptr && family(machine.gpu) == family(gpu)) alike = &machine;
    if (machine.gpu != gpu) continue;
    if (!many_nodes || joined_by(machine, network)) return &machine;
    if (same == nullptr) same = &machine;
  }
  return same != nullptr ? same : alike;
}

}  // namespace stepwright::fit
