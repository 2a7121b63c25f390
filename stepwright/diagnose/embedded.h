#pragma once

#include <span>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"

namespace stepwright::diagnose {

/// Returns the data file `advice.yaml` (causes and remedies of faults), which is compiled in.
std::span<const EmbeddedFile> embedded_advice();

/// Returns the data file `clues.yaml` (log lines that state a fault), which is compiled in.
std::span<const EmbeddedFile> embedded_fault_line_patterns();

/// Returns the data file `words.yaml` (words by which log lines are recognised), which is compiled
/// in.
std::span<const EmbeddedFile> embedded_log_line_words();
/// Returns the parsed content of `words.yaml` (words by which log lines are recognised); it is read
/// once.
const YamlJsonDocument& log_recognition_words();

}  // namespace stepwright::diagnose
