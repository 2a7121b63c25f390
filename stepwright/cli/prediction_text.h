#pragma once

#include <string>

#include "stepwright/simulate/prediction.h"

namespace stepwright {

/// The answer in a few lines: what was asked, the plan, step time, throughput, MFU and memory.
std::string prediction_summary(const Prediction& prediction);

/// What `stepwright predict` prints: the summary, where the time goes on the critical stage, notes.
std::string prediction_text(const Prediction& prediction);

/// What `stepwright predict --set` prints: both summaries and the difference by term.
std::string comparison_text(const Prediction& before, const Prediction& after);

/// "73.1 GiB of 79.1 GiB (4.7 GiB kept in reserve)".
std::string memory_use(const MemoryReport& memory);

/// A list under a title, one line each; nothing when it is empty.
std::string notes_text(const std::vector<std::string>& notes);

}  // namespace stepwright
