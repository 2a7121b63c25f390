#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/finding.h"
#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// A device or a host that had no memory left, as one line of a log says it. Bytes that the line
/// does not say are negative.
struct OutOfMemory {
  std::string file;
  std::int64_t line = 0;
  std::int64_t rank = logs::kUnknown;
  bool host = false;        ///< True if the kernel or Slurm ended a process.
  double asked_bytes = -1;  ///< Bytes that were to be allocated.
  double capacity_bytes = -1;
  double free_bytes = -1;
  double process_bytes = -1;    ///< Bytes of this process, with its context and libraries.
  double allocated_bytes = -1;  ///< Bytes allocated by PyTorch's allocator.
  double unused_bytes = -1;     ///< Reserved by the allocator and not allocated.
  double others_bytes = 0;      ///< Bytes of other processes on the device.
  std::string frame;            ///< "train.py:41 in step"; empty: unknown.
  /// Keys of `advice.yaml` by the functions that asked for it, the innermost first.
  std::vector<std::string_view> places;
};

/// Reads PyTorch's message of a device without memory, of 1.10 to 2.13
/// (c10/cuda/CUDACachingAllocator.cpp), NVIDIA's and AMD's; nullopt where a line is none.
std::optional<OutOfMemory> read_device_out_of_memory(std::string_view line);

/// Reads what the kernel and Slurm say where they end a process for want of host memory; nullopt
/// where a line says nothing of it.
std::optional<OutOfMemory> read_host_out_of_memory(std::string_view line);

/// One finding for all devices that had no memory left, and one for all hosts.
std::vector<Finding> memory_findings(const std::vector<OutOfMemory>& events);

}  // namespace stepwright::diagnose
