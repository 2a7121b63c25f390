#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stepwright/logs/planned_calls.h"

namespace stepwright::logs {

/// A call as NCCL would log it; tests modify such calls.
struct WrittenCall {
  std::string name;  ///< Name of the operation as NCCL prints it: "AllReduce", ...
  std::vector<std::int64_t> members;
  std::int64_t payload_bytes = 0;
  std::int64_t peer = 0;  ///< Rank of the peer in the group.
};

/// Returns the lines that NCCL would print for some steps of a program's ranks: lines of INIT, then
/// each rank's calls. `change` may modify the calls of one step of a rank.
std::string nccl_log_of(const step::StepProgram& program, const plan::RankGrid& grid, int steps,
                        const std::vector<std::int64_t>& ranks,
                        const std::function<void(std::vector<WrittenCall>&)>& change = {});

}  // namespace stepwright::logs
