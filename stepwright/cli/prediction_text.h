#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::cli {

/// Returns the text of `stepwright predict`: job, plan, step time, throughput, days and GPU-hours,
/// memory, the largest losses, and the times of the critical pipeline stage, without notes.
/// `framework`: line above the plan about the frameworks that can run it.
std::string prediction_text(const simulate::PlanPrediction& prediction,
                            const whole_run::RequestedTrainingRun& asked = {},
                            const std::string& framework = "");

/// Returns the text of `stepwright predict --set`: summaries of the plan before and after a change,
/// and the difference of each term of the step time, without notes.
std::string prediction_difference_text(const simulate::PlanPrediction& before,
                                       const simulate::PlanPrediction& after,
                                       const whole_run::RequestedTrainingRun& asked = {});

/// Returns a plan's memory use as text: "73.1 GiB of 79.1 GiB (4.7 GiB kept free), which fits with
/// a probability of 91%"; without the probability if the plan does not fit.
std::string memory_use_text(const memory::MemoryReport& memory);
/// Returns the memory line of a prediction: the memory use and, if the plan may not fit, how far it
/// is from fitting: "..., tight: 83% that it fits; 1.2 GiB above what fits with 90%, most of it
/// activations".
std::string predicted_memory_line(const memory::MemoryReport& memory);
/// Returns the probability with which a plan fits in memory, as text: "83% that it fits; ". Empty:
/// the plan fits, no probability was asked for, or host memory is exceeded.
std::string memory_fit_probability_text(const memory::MemoryReport& memory);
/// Returns by how much a plan exceeds memory, as text: "1.2 GiB above what fits with 90%" if it may
/// fit, "17.8 GiB too much" if it does not.
std::string memory_shortage_text(const memory::MemoryReport& memory);
/// Returns, for a table, whether a plan fits in memory: "" (fits), "tight" (may fit) or "does not
/// fit".
std::string_view memory_fit_status_text(memory::MemoryFitVerdict verdict);

/// Returns notes as a list under a heading, one line each; empty: there are no notes.
std::string notes_text(const std::vector<std::string>& notes);

/// Returns the first five notes and the number of further ones, as text. `verbose`: all notes.
std::string first_notes_text(std::vector<std::string> notes, bool verbose);

/// Returns a list of the operators whose sizes are outside of all measurements, with these sizes;
/// empty: all sizes are within measurements.
std::string unmeasured_operators_text(const simulate::PlanPrediction& prediction);

}  // namespace stepwright::cli
