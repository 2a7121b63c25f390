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

/// A file of a diagnosis: its kind and the ranks and steps that it has.
struct DiagnosedFile {
  std::string path;
  std::string what;                 ///< "flight recorder", "log of a job".
  std::vector<std::int64_t> ranks;  ///< Ranks that it speaks of, sorted.
  std::int64_t steps = 0;           ///< Steps of training whose lines it has.
};

/// Steady steps of training that a file reports.
struct MeasuredSteps {
  std::string file;
  TrainingProgram program{};
  SteadySteps steady;
};

/// The findings of all files of a job.
struct Diagnosis {
  std::vector<DiagnosedFile> files;
  std::vector<Finding> findings;           ///< Findings, causes before what follows from them.
  std::vector<std::string> notes;          ///< Gaps in the files, and which files would say more.
  std::vector<MeasuredSteps> measured;     ///< Steps of each log that has some.
  std::vector<MeasuredMessages> messages;  ///< Messages of each log that times them.
  std::vector<SnapshotMemory> snapshots;   ///< Devices of each snapshot of memory.
  std::vector<OutOfMemory> out_of_memory;  ///< Devices and hosts without memory, in file order.
};

}  // namespace stepwright::diagnose
