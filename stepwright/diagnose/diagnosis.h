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

/// A file that was diagnosed: its kind, and the ranks and steps in it.
struct DiagnosedFile {
  std::string path;
  std::string what;                 ///< Kind of the file: "flight recorder", "log of a job".
  std::vector<std::int64_t> ranks;  ///< Ranks that the file mentions, sorted.
  std::int64_t steps = 0;           ///< Number of training steps that the file reports.
};

/// Steady-state training steps that one file reports.
struct MeasuredSteps {
  std::string file;
  TrainingProgram program{};
  SteadySteps steady;
};

/// The result of diagnosing all files of a job.
struct Diagnosis {
  std::vector<DiagnosedFile> files;
  std::vector<Finding> findings;           ///< Findings; causes precede their consequences.
  std::vector<std::string> notes;          ///< Gaps in the files, and which other files would help.
  std::vector<MeasuredSteps> measured;     ///< Steady steps of each log that reports steps.
  std::vector<MeasuredMessages> messages;  ///< Messages of each log that times messages.
  std::vector<SnapshotMemory> snapshots;   ///< One entry for each device of each memory snapshot.
  /// Out-of-memory events of devices and hosts, in file order.
  std::vector<OutOfMemory> out_of_memory;
};

}  // namespace stepwright::diagnose
