#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/output_file.h"

namespace stepwright::runtime {

/// Returns the lines of a metrics file that belong to steps before `step`. Drops lines of `step`
/// and later ones, and an incomplete last line.
std::string lines_before(std::string_view text, std::int64_t step);

/// The file of `--metrics`: one JSON object a step, written as the step ends.
class MetricsFile {
 public:
  /// `resumed`: true: the file keeps the lines of steps before the first one added; false: it
  /// starts empty. The file is not touched before that first step.
  MetricsFile(std::string path, bool resumed) : path_(std::move(path)), resumed_(resumed) {}

  /// Adds the line of a step, given without a line break. Fails with `kRuntime`, naming the file
  /// and the reason, when it cannot be written.
  void add(std::int64_t step, std::string_view line);
  /// Ends the file. Fails as `add` does.
  void close();

 private:
  void open(std::int64_t step);

  std::string path_;
  bool resumed_;
  std::optional<AppendedFile> file_;
};

}  // namespace stepwright::runtime
