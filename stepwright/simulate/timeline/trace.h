#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "stepwright/simulate/timeline/prices.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

struct TraceOptions {
  /// For each stage, the text after its name: "ranks 96-127". Empty: consecutive ranks per stage.
  std::vector<std::string> ranks;
  /// If set, adds rows that show each link class, by the class for which an operator was priced;
  /// null: no such rows.
  const Prices* prices = nullptr;
};

/// Writes the recorded events as a Chrome trace, which Perfetto opens: one process per stage, one
/// thread per stream, times in microseconds to the nanosecond. Messages carry the arguments that
/// Kineto gives to collectives (sizes in elements of the local tensors). Link rows repeat the
/// messages without those arguments; messages that share a link class at one time have rows of
/// their own. The file is written while events are read: memory does not grow with them. Equal
/// inputs give equal bytes.
void write_trace(const step::StepProgram& program, const Simulation& simulation,
                 const TraceOptions& options, std::ostream& out);

}  // namespace stepwright::simulate
