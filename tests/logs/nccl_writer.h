#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stepwright/logs/planned_calls.h"

namespace stepwright::logs {

/// A call as NCCL would log it, for tests that change what a run does.
struct WrittenCall {
  std::string name;  ///< Operation as NCCL prints it: "AllReduce", ...
  std::vector<std::int64_t> members;
  std::int64_t payload_bytes = 0;
  std::int64_t peer = 0;  ///< Peer's number in the group.
};

/// The lines that NCCL would print of some steps of a program's ranks, had it been trained with
/// NCCL: lines of INIT, then each rank's calls. `change` may alter the calls of a step of a rank.
std::string nccl_log_of(const step::StepProgram& program, const plan::Grid& grid, int steps,
                        const std::vector<std::int64_t>& ranks,
                        const std::function<void(std::vector<WrittenCall>&)>& change = {});

}  // namespace stepwright::logs
