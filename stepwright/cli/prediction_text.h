#pragma once

#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::cli {

/// The text of `stepwright predict`: what was asked, the plan, step time, throughput, days and
/// GPU-hours, memory and the largest losses; where the time of the critical stage goes; notes.
/// `framework`: a line before the plan, on who runs it.
std::string prediction_text(const simulate::Prediction& prediction,
                            const whole_run::AskedRun& asked = {},
                            const std::string& framework = "");

/// The text of `stepwright predict --set`: both summaries and the difference by term.
std::string comparison_text(const simulate::Prediction& before, const simulate::Prediction& after,
                            const whole_run::AskedRun& asked = {});

/// "73.1 GiB of 79.1 GiB (4.7 GiB kept free), which fits with a probability of 91%".
std::string memory_use(const memory::MemoryReport& memory);
/// The same, or that it does not fit, by how much and for what.
std::string memory_line(const memory::MemoryReport& memory);

/// A list under a title, one line each; nothing when it is empty.
std::string notes_text(const std::vector<std::string>& notes);

}  // namespace stepwright::cli
