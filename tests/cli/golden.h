#pragma once

#include <string>

#include "command.h"

namespace stepwright::cli {

/// Returns a run in the form of golden files: the command line, the exit code unless it is 0, the
/// answer and the messages.
std::string transcript(const Workplace& place, const std::string& arguments);

/// Removes from a search's answer how long it took.
std::string without_seconds(const std::string& answer);

/// Expects a text to equal tests/cli/golden/NAME. If STEPWRIGHT_UPDATE_GOLDEN is set in the
/// environment, replaces the file by the text instead.
void expect_golden(const std::string& name, const std::string& text);

}  // namespace stepwright::cli
