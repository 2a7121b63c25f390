#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// Settings of an MSCCL algorithm file, besides its steps.
struct MscclSetting {
  std::string name;
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = std::int64_t{1} << 40;
  /// `MSCCL_MAX_NUM_STEPS` of the executor that loads the file: 64 in Azure/msccl-executor-nccl,
  /// 256 in microsoft/msccl.
  std::size_t most_steps = 64;
  /// Most thread blocks of a rank. All of them wait for each other, so each needs a multiprocessor
  /// of its own; an A100 has 108.
  std::size_t most_thread_blocks = 108;
};

/// Writes a schedule as an MSCCL algorithm file (XML, protocol Simple). A flow of messages becomes
/// a thread block at each end and a connection between them, which no other flow shares; a step
/// that must wait for several others has a nop for each of them but the last. Only the steps of a
/// thread block, the messages of a connection and dependences are ordered. The schedule must have
/// no defect. Fails with `kUnsupported` for more thread blocks, steps, channels or pieces than
/// MSCCL's loaders have room for (`msccl_struct.h`, `msccl_parser.h` of Azure/msccl-executor-nccl).
std::string msccl_xml(const collective::CollectiveSchedule& schedule, const MscclSetting& setting);

}  // namespace stepwright::collective_files
