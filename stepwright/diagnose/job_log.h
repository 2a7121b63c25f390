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

/// A summary of a job's log, as any launcher prints it.
struct JobLog {
  std::vector<std::int64_t> ranks;  ///< Ranks that lines name, sorted.
  bool local_ranks = false;         ///< True if they are torchrun's numbers on one node.
  std::int64_t lines = 0;
  std::int64_t told = 0;  ///< Lines of these that say how the job ended.
  TrainingLog training;   ///< Steps that one rank printed.
  NcclFacts nccl;         ///< Ways and settings in lines of NCCL_DEBUG=INFO.
  /// Messages of DeepSpeed's communication logger and nccl-tests.
  std::vector<TimedMessage> messages;
};

/// Reads a log in bounded memory and adds what it says to the evidence: time-outs of PyTorch's
/// watchdog (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, 1.13 to 2.13) as calls that did not
/// end, tracebacks, signals and exit codes of torchrun, srun and mpirun, mismatches that Gloo and
/// TORCH_DISTRIBUTED_DEBUG=DETAIL report, ranks that a barrier or a store waited for in vain, and
/// devices and hosts out of memory.
JobLog read_job_log(logs::ByteSource& bytes, Evidence& evidence,
                    std::vector<OutOfMemory>& out_of_memory);

}  // namespace stepwright::diagnose
