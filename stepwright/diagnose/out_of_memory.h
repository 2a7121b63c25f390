#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/finding.h"
#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// One log line that says that a device or a host ran out of memory. Sizes that the line does not
/// have are negative.
struct OutOfMemory {
  std::string file;
  std::int64_t line = 0;
  std::int64_t rank = logs::kUnknown;
  bool host = false;        ///< True for host memory: the kernel or Slurm ended a process.
  double asked_bytes = -1;  ///< Bytes of the allocation that failed.
  double capacity_bytes = -1;
  double free_bytes = -1;
  /// Bytes in use by this process, including its context and libraries.
  double process_bytes = -1;
  double allocated_bytes = -1;  ///< Bytes allocated by PyTorch's allocator.
  double unused_bytes = -1;     ///< Bytes reserved by the allocator but not allocated.
  double others_bytes = 0;      ///< Bytes in use by other processes on the device.
  std::string frame;  ///< Line of the user's program: "train.py:41 in step"; empty: unknown.
  /// Keys of `advice.yaml` for the functions that requested the memory, innermost first
  /// (`out_of_memory_reasons`).
  std::vector<std::string_view> places;
};

/// Reads a message of PyTorch (1.10 to 2.13, c10/cuda/CUDACachingAllocator.cpp) that a device ran
/// out of memory, NVIDIA's or AMD's; nullopt: another line.
std::optional<OutOfMemory> read_device_out_of_memory(std::string_view line);

/// Reads a line in which the kernel or Slurm says that it ended a process because host memory ran
/// out; nullopt: another line.
std::optional<OutOfMemory> read_host_out_of_memory(std::string_view line);

/// Returns one finding for all devices that ran out of memory, and one for all hosts.
std::vector<Finding> memory_findings(const std::vector<OutOfMemory>& events);

}  // namespace stepwright::diagnose
