#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::cli {

/// The text of `stepwright predict`: what was asked, the plan, step time, throughput, days and
/// GPU-hours, memory and the largest losses; where the time of the critical stage goes; notes.
/// `framework`: a line before the plan, on who runs it. The notes follow by `ranked_notes_text`.
std::string prediction_text(const simulate::Prediction& prediction,
                            const whole_run::AskedRun& asked = {},
                            const std::string& framework = "");

/// The text of `stepwright predict --set`: both summaries and the difference by term. The notes
/// follow by `ranked_notes_text`.
std::string comparison_text(const simulate::Prediction& before, const simulate::Prediction& after,
                            const whole_run::AskedRun& asked = {});

/// "73.1 GiB of 79.1 GiB (4.7 GiB kept free), which fits with a probability of 91%"; without the
/// probability where it does not fit.
std::string memory_use(const memory::MemoryReport& memory);
/// Returns the line of a prediction about memory: its use, and where a plan does not fit "...,
/// tight: 83% that it fits; 1.2 GiB above what fits with 90%, most of it activations".
std::string memory_line(const memory::MemoryReport& memory);
/// "83% that it fits; " where that decides; empty: the account of devices or of a host does.
std::string misfit_chance(const memory::MemoryReport& memory);
/// "1.2 GiB above what fits with 90%"; of what does not fit "17.8 GiB too much".
std::string misfit_excess(const memory::MemoryReport& memory);
/// "", "tight" or "does not fit".
std::string_view misfit_mark(memory::FitVerdict verdict);

/// A list under a title, one line each; nothing when it is empty.
std::string notes_text(const std::vector<std::string>& notes);

/// The first five notes, and how many more there are; all of them with `verbose`.
std::string ranked_notes_text(std::vector<std::string> notes, bool verbose);

/// A list of the operators whose sizes were not measured, and of these sizes; empty where all were.
std::string unmeasured_text(const simulate::Prediction& prediction);

}  // namespace stepwright::cli
