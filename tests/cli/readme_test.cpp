#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "command.h"

namespace stepwright {
namespace {

/// Arguments of every line of a code block that calls the command, in the order of the text.
std::vector<std::string> commands_of(const std::string& text) {
  std::vector<std::string> commands;
  std::istringstream lines(text);
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    if (line.starts_with("$ ")) line.erase(0, 2);
    for (const std::string call : {"stepwright ", "build/release/stepwright "}) {
      if (code && line.starts_with(call)) commands.push_back(line.substr(call.size()));
    }
  }
  return commands;
}

TEST(Readme, CommandsRun) {
  const Workplace place;  // One for all: later commands read what earlier ones wrote.
  const std::vector<std::string> commands = commands_of(content_of("README.md"));
  EXPECT_GE(commands.size(), 5);
  for (const std::string& arguments : commands) {
    const Outcome outcome = place.run(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << ": " << outcome.err;
  }
}

}  // namespace
}  // namespace stepwright
