#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/message_lines.h"
#include "stepwright/diagnose/nccl_lines.h"
#include "stepwright/diagnose/out_of_memory.h"
#include "stepwright/diagnose/training_log.h"
#include "stepwright/logs/files/byte_source.h"

namespace stepwright::diagnose {

/// A summary of a job's log, printed by any launcher.
struct JobLog {
  std::vector<std::int64_t> ranks;  ///< Ranks that lines name, sorted.
  bool local_ranks = false;  ///< True if the ranks are torchrun's local ranks within one node.
  std::int64_t lines = 0;
  std::int64_t told = 0;  ///< Number of lines that tell how the job ended.
  TrainingLog training;   ///< Training steps, from the lines of one rank.
  NcclFacts nccl;         ///< Message paths and settings from lines of NCCL_DEBUG=INFO.
  /// Timed messages of DeepSpeed's communication logger and nccl-tests.
  std::vector<TimedMessage> messages;
};

/// Reads a log in bounded memory and adds its facts to the evidence: time-outs of PyTorch's
/// watchdog (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, 1.13 to 2.13) as calls that did not
/// end, tracebacks, signals and exit codes of torchrun, srun and mpirun, mismatches that Gloo and
/// TORCH_DISTRIBUTED_DEBUG=DETAIL report, ranks for which a barrier or a store waited in vain, and
/// out-of-memory errors of devices and hosts.
JobLog read_job_log(logs::ByteSource& bytes, Evidence& evidence,
                    std::vector<OutOfMemory>& out_of_memory);

}  // namespace stepwright::diagnose
