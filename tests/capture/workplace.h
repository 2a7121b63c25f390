#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/capture.h"
#include "stepwright/core/quoting.h"
#include "tests/folder.h"

namespace stepwright::capture {

/// Makes a new folder the current one; scripts are written and captured in it.
class Workplace : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
  }
  void TearDown() override { std::filesystem::current_path(before_); }

  /// Writes an executable file.
  void write(const std::string& name, std::string_view text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  ScriptCaptureResult run(std::string_view script, ScriptCaptureRequest request = {}) {
    write("job.sh", script);
    request.command = {"bash", "job.sh"};
    return capture_launch_script(request);
  }

  [[nodiscard]] std::filesystem::path path() const { return folder_.path(); }

 private:
  Folder folder_;
  std::filesystem::path before_;
};

/// Returns a captured command as a line of a shell.
inline std::string line_of(const CapturedLaunchCommand& command) {
  Words words = command.launcher;
  words.insert(words.end(), command.argv.begin(), command.argv.end());
  return quoted_for_shell(words);
}

/// Returns all captured commands as lines of a shell.
inline std::string lines_of(const ScriptCaptureResult& captured) {
  std::string lines;
  for (const CapturedLaunchCommand& command : captured.commands) lines += line_of(command) + "\n";
  return lines;
}

/// Returns the value of a variable in a command's environment; "-": it is not set.
inline std::string value_in(const CapturedLaunchCommand& command, const std::string& name) {
  const auto found = command.environment.find(name);
  return found == command.environment.end() ? "-" : found->second;
}

/// True if one of several texts contains a text.
inline bool mentions(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::any_of(
      texts, [&](const std::string& one) { return one.find(text) != std::string::npos; });
}

}  // namespace stepwright::capture
