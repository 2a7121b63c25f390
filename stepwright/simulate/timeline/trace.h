#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "stepwright/simulate/timeline/prices.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

struct TraceOptions {
  /// For each stage, text to show after its name: "ranks 96-127". Empty: shows consecutive ranks
  /// for each stage.
  std::vector<std::string> ranks;
  /// Prices of all operators, for rows that show the messages on each link class; null: no such
  /// rows.
  const Prices* prices = nullptr;
};

/// Writes the recorded events of a simulation as a Chrome trace, which Perfetto opens: one process
/// per stage, one thread per stream, times in microseconds to the nanosecond. Messages carry the
/// arguments that Kineto gives to collectives (sizes in elements of the local tensors). Link rows
/// repeat the messages without those arguments; messages at the same time have rows of their own.
/// Events are written as they are read, so memory does not grow with them. Equal inputs give equal
/// bytes.
void write_chrome_trace(const step::StepProgram& program, const Simulation& simulation,
                        const TraceOptions& options, std::ostream& out);

}  // namespace stepwright::simulate
