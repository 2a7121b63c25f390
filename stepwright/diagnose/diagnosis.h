#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/diagnose/finding.h"
#include "stepwright/diagnose/memory_snapshot.h"
#include "stepwright/diagnose/message_lines.h"
#include "stepwright/diagnose/out_of_memory.h"
#include "stepwright/diagnose/training_log.h"

namespace stepwright::diagnose {

/// A file that was diagnosed: its kind, and the ranks and training steps found in it.
struct DiagnosedFile {
  std::string path;
  std::string what;  ///< Kind of the file, in words: "flight recorder", "log of a job".
  /// Ranks that the diagnosed file mentions, sorted.
  std::vector<std::int64_t> ranks;
  /// Number of training steps that the diagnosed file reports.
  std::int64_t steps = 0;
};

/// Training steps that one log reports, summarised without the warm-up.
struct LoggedStepSummary {
  std::string file;
  LoggedTrainingProgram program{};
  SteadySteps steady;
};

/// Result of diagnosing all files that a job left.
struct Diagnosis {
  std::vector<DiagnosedFile> files;
  std::vector<FaultFinding> findings;  ///< All faults found; causes come before their consequences.
  /// Notes about what the files lack, and which other files would help.
  std::vector<std::string> notes;
  /// Summary of the training steps of each log that reports steps.
  std::vector<LoggedStepSummary> measured;
  /// Durations of messages, for each log that reports them.
  std::vector<MeasuredMessages> messages;
  /// Memory of each device in each memory snapshot of PyTorch.
  std::vector<SnapshotMemory> snapshots;
  /// Reports that a device or a host ran out of memory, in file order.
  std::vector<OutOfMemoryReport> out_of_memory;
};

}  // namespace stepwright::diagnose
