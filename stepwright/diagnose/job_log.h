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

/// Facts from the log of a job, apart from those that are added to `JobFailureEvidence`.
struct JobLogFacts {
  std::vector<std::int64_t> ranks;  ///< Ranks that are mentioned in the log, sorted.
  /// True if `ranks` are torchrun's local ranks within one node instead of global ranks.
  bool local_ranks = false;
  std::int64_t lines = 0;
  std::int64_t told = 0;  ///< Number of log lines with facts about how the job ended.
  TrainingLog training;   ///< Training steps, from log lines of one rank.
  NcclLogFacts nccl;      ///< Network paths and settings that NCCL prints with NCCL_DEBUG=INFO.
  /// Durations of messages that DeepSpeed's communication logger or nccl-tests prints.
  std::vector<TimedMessage> messages;
};

/// Reads a log in bounded memory and adds its facts to `evidence`: time-outs of PyTorch's watchdog
/// (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, 1.13 to 2.13), tracebacks, signals and exit
/// codes of torchrun, srun and mpirun, mismatches reported by Gloo and
/// TORCH_DISTRIBUTED_DEBUG=DETAIL, and ranks for which a barrier or store waited in vain. Adds
/// errors of devices and hosts to `out_of_memory`.
JobLogFacts read_job_log(logs::FileByteReader& bytes, JobFailureEvidence& evidence,
                         std::vector<OutOfMemoryReport>& out_of_memory);

}  // namespace stepwright::diagnose
