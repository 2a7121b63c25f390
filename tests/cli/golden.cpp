#include "golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

namespace stepwright::cli {

std::string transcript(const Workplace& place, const std::string& arguments) {
  const Outcome outcome = place.run(arguments);
  std::string text = "$ stepwright " + arguments + "\n";
  if (outcome.code != 0) text += "(exit code " + std::to_string(outcome.code) + ")\n";
  return text + outcome.out + outcome.err + "\n";
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path("tests/cli/golden") / name;
  if (std::getenv("STEPWRIGHT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, content_of(path)) << "STEPWRIGHT_UPDATE_GOLDEN=1 rewrites " << path;
}

std::string without_seconds(const std::string& answer) {
  return std::regex_replace(answer, std::regex("answer took [^:]*:"), "answer took N s:");
}

}  // namespace stepwright::cli
