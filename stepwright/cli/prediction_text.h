#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::cli {

/// Returns the text of `stepwright predict`: the job, the plan, step time, throughput, days and
/// GPU-hours, memory, the largest losses, and the times of the critical stage. `framework`: a line
/// above the plan about the frameworks that run it. Notes are not included; `ranked_notes_text`
/// prints them.
std::string prediction_text(const simulate::Prediction& prediction,
                            const whole_run::RequestedRun& asked = {},
                            const std::string& framework = "");

/// Returns the text of `stepwright predict --set`: summaries of the plan before and after the
/// change, and the difference by term. Notes are not included; `ranked_notes_text` prints them.
std::string comparison_text(const simulate::Prediction& before, const simulate::Prediction& after,
                            const whole_run::RequestedRun& asked = {});

/// Returns the memory use as "73.1 GiB of 79.1 GiB (4.7 GiB kept free), which fits with a
/// probability of 91%"; without the probability if it does not fit.
std::string memory_use_text(const memory::MemoryReport& memory);
/// Returns the memory line of a prediction: `memory_use_text` and, for a plan that does not fit,
/// "..., tight: 83% that it fits; 1.2 GiB above what fits with 90%, most of it activations".
std::string memory_line(const memory::MemoryReport& memory);
/// Returns the probability that a plan fits, as "83% that it fits; ". Empty: the plan fits, no
/// probability was asked for, or it is host memory that is exceeded.
std::string misfit_chance_text(const memory::MemoryReport& memory);
/// Returns the excess of a plan: "1.2 GiB above what fits with 90%" if it is tight, "17.8 GiB too
/// much" if it does not fit.
std::string misfit_excess_text(const memory::MemoryReport& memory);
/// Returns the words for a verdict in tables: "" (fits), "tight" or "does not fit".
std::string_view fit_status_text(memory::FitVerdict verdict);

/// Returns notes as a list under a heading, one line each; empty: there are none.
std::string notes_text(const std::vector<std::string>& notes);

/// Returns the first five notes and the number of further ones; with `verbose` all notes.
std::string ranked_notes_text(std::vector<std::string> notes, bool verbose);

/// Returns a list of operators that were predicted at sizes outside of all measurements, with these
/// sizes; empty: all sizes were measured.
std::string unmeasured_text(const simulate::Prediction& prediction);

}  // namespace stepwright::cli
