#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/finding.h"
#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// A report that a device or a host ran out of memory, from one log line. Sizes that the line does
/// not have are negative.
struct OutOfMemoryReport {
  std::string file;
  std::int64_t line = 0;
  std::int64_t rank = logs::kUnknown;
  /// True if host memory ran out, and the kernel or Slurm ended a process; false: device memory.
  bool host = false;
  double asked_bytes = -1;  ///< Bytes that the failed allocation requested.
  double capacity_bytes = -1;
  double free_bytes = -1;
  /// Bytes of device memory that this process uses, including its CUDA context and libraries.
  double process_bytes = -1;
  double allocated_bytes = -1;  ///< Bytes that PyTorch's allocator has handed out to tensors.
  /// Bytes that PyTorch's allocator has reserved from the device but not handed out.
  double unused_bytes = -1;
  double others_bytes = 0;  ///< Bytes of device memory that other processes use.
  /// Line of the user's program that requested the memory: "train.py:41 in step"; empty: unknown.
  std::string frame;
  /// Keys of `advice.yaml` for the functions that requested the memory, innermost first.
  std::vector<std::string_view> places;
};

/// Reads a log line in which PyTorch says that an NVIDIA or AMD device ran out of memory (1.10 to
/// 2.13, c10/cuda/CUDACachingAllocator.cpp); nullopt: another line.
std::optional<OutOfMemoryReport> read_device_out_of_memory(std::string_view line);

/// Reads a log line in which the kernel or Slurm says that it ended a process because host memory
/// ran out; nullopt: another line.
std::optional<OutOfMemoryReport> read_host_out_of_memory(std::string_view line);

/// Returns at most two findings: one about all devices that ran out of memory, one about all hosts.
std::vector<FaultFinding> out_of_memory_findings(const std::vector<OutOfMemoryReport>& events);

}  // namespace stepwright::diagnose
