#pragma once

#include <filesystem>
#include <string>

#include "tests/folder.h"

namespace stepwright::cli {

/// A plan of the repository, and an option that shortens its step.
inline constexpr const char* kExamplePlan = "examples/llama-3-70b.plan.yaml";
inline constexpr const char* kSmallBatch = " --set batch.sequences=16";

/// The exit code of a command and what it printed.
struct Outcome {
  int code = -1;  ///< Exit code; -1: a signal ended it.
  std::string out;
  std::string err;
};

/// An empty folder that is removed when the test ends. Commands run in it; `examples/` in it is the
/// repository's.
class Workplace {
 public:
  Workplace();

  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  /// Makes a file with this content.
  void write(const std::string& name, const std::string& content) const;
  /// Returns the content of a file.
  [[nodiscard]] std::string read(const std::string& name) const;
  /// Runs `stepwright ARGUMENTS`, as a shell would.
  [[nodiscard]] Outcome run(const std::string& arguments) const;

 private:
  Folder folder_;
};

/// Returns the content of a file.
std::string content_of(const std::filesystem::path& path);

}  // namespace stepwright::cli
