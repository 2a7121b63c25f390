#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// The head of an algorithm file of MSCCL, beside its steps.
struct MscclSetting {
  std::string name;
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = std::int64_t{1} << 40;
  /// `MSCCL_MAX_NUM_STEPS` of the executor that loads the file: 64 in Azure/msccl-executor-nccl,
  /// 256 in microsoft/msccl.
  std::size_t most_steps = 64;
  /// The most thread blocks of a rank: all of them wait for each other, so that each needs a
  /// multiprocessor of its own; an A100 has 108.
  std::size_t most_thread_blocks = 108;
};

/// A schedule as an algorithm file of MSCCL (XML, protocol Simple). A flow of messages becomes a
/// thread block at either end and a connection between them, which no other flow shares; a step
/// that must wait for several others has a nop for each but the last. Nothing is ordered but by the
/// steps of a thread block, the messages of a connection and dependences. The schedule has no
/// defect. Fails with `kUnsupported` for more thread blocks, steps, channels or pieces than its
/// loaders have room for (`msccl_struct.h`, `msccl_parser.h` of Azure/msccl-executor-nccl).
std::string msccl_xml(const collective::CollectiveSchedule& schedule, const MscclSetting& setting);

}  // namespace stepwright::collective_files
