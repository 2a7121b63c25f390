#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::cost {

inline constexpr double kMicro = 1e-6;

/// Returns a job on nodes of eight devices with NVLink, one NIC for each device, and one network.
inline plan::Job nodes_of_eight(std::int64_t nodes, double nvlink, double nic) {
  plan::Job job;
  cluster::Cluster& cluster = job.cluster;
  cluster.nodes = nodes;
  cluster.devices_per_node = 8;
  cluster.nics_per_node = 8;
  cluster.nic_bytes_per_s = nic;
  cluster.levels = {{.name = "nvlink",
                     .size = 8,
                     .uplink_bytes_per_s = nvlink,
                     .latency_s = 2.5e-6,
                     .links = cluster::LinkTechnology::kNvlink},
                    {.name = "network",
                     .size = 8 * nodes,
                     .uplink_bytes_per_s = 8 * nic,
                     .latency_s = 5e-6,
                     .network = true}};
  return job;
}

/// Returns a job with rounded figures of the DGX A100.
inline plan::Job a100_job(std::int64_t nodes = 2) {
  plan::Job job = nodes_of_eight(nodes, 300e9, 25e9);
  job.cluster.device = {
      .name = "a100",
      .peak_flops = {{DType::kFp32, 19.5e12}, {DType::kFp16, 312e12}, {DType::kBf16, 312e12}},
      .memory_bytes = 80e9,
      .memory_bandwidth_bytes_per_s = 2e12};
  return job;
}

/// Returns a job with rounded figures of the DGX H100.
inline plan::Job h100_job(std::int64_t nodes = 2) {
  plan::Job job = nodes_of_eight(nodes, 450e9, 50e9);
  job.cluster.device = {
      .name = "h100",
      .peak_flops = {{DType::kFp32, 67e12}, {DType::kBf16, 990e12}, {DType::kFp8, 1980e12}},
      .memory_bytes = 80e9,
      .memory_bandwidth_bytes_per_s = 3.35e12};
  return job;
}

/// A job on nodes of eight B200.
inline plan::Job b200_job(std::int64_t nodes = 2) {
  plan::Job job = nodes_of_eight(nodes, 900e9, 50e9);
  job.cluster.device = {.name = "b200",
                        .peak_flops = {{DType::kBf16, 2250e12},
                                       {DType::kFp8, 4500e12},
                                       {DType::kMxfp8, 4500e12},
                                       {DType::kNvfp4, 9000e12}},
                        .memory_bytes = 180e9,
                        .memory_bandwidth_bytes_per_s = 8e12};
  return job;
}

/// Returns a job on devices that match no generation.
inline plan::Job other_job(std::int64_t nodes = 2) {
  plan::Job job = nodes_of_eight(nodes, 32e9, 12.5e9);
  job.cluster.device = {.name = "mine",
                        .peak_flops = {{DType::kFp32, 10e12}},
                        .memory_bytes = 16e9,
                        .memory_bandwidth_bytes_per_s = 0.5e12};
  return job;
}

}  // namespace stepwright::cost
