#pragma once

#include <string>

#include "command.h"

namespace stepwright::cli {

/// A run as it stands in a golden file: the command line, the exit code unless it is 0, the answer
/// and the messages.
std::string transcript(const Workplace& place, const std::string& arguments);

/// An answer of a search without how long it took.
std::string without_seconds(const std::string& answer);

/// Expects a text to be that of tests/cli/golden/NAME; with STEPWRIGHT_UPDATE_GOLDEN in the
/// environment it becomes that text instead.
void expect_golden(const std::string& name, const std::string& text);

}  // namespace stepwright::cli
