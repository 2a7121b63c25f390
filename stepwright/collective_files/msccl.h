#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// Limits of the program that will load an MSCCL algorithm file.
struct MscclLoaderLimits {
  std::string name;
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = std::int64_t{1} << 40;
  /// Most steps of a thread block in the MSCCL algorithm file: `MSCCL_MAX_NUM_STEPS` of the program
  /// that loads the file: 64 in Azure/msccl-executor-nccl, 256 in microsoft/msccl.
  std::size_t most_steps = 64;
  /// Most thread blocks of a rank. Each needs a multiprocessor of its own, because all wait for
  /// each other; an A100 has 108.
  std::size_t most_thread_blocks = 108;
};

/// Writes a collective's schedule as an MSCCL algorithm file (XML, protocol Simple). The messages
/// between two ranks on one of its lanes become a thread block at each end and a connection. The
/// schedule must have no defect. Fails with `kUnsupported` for more thread blocks, steps, channels
/// or pieces than MSCCL's loaders have room for (`msccl_struct.h`, `msccl_parser.h` of
/// Azure/msccl-executor-nccl).
std::string msccl_xml(const collective::CollectiveSchedule& schedule,
                      const MscclLoaderLimits& setting);

}  // namespace stepwright::collective_files
