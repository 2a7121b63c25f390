#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/output_file.h"

namespace stepwright::runtime {

/// Returns the lines of a metrics file (`--metrics`) that belong to steps before `step`. Drops
/// later lines and an incomplete last line.
std::string metrics_file_lines_before_step(std::string_view text, std::int64_t step);

/// Writer of the file of `--metrics`: one line of JSON per training step, written when the step
/// ends.
class MetricsFile {
 public:
  /// `resumed`: true if the run continues an earlier one: the file keeps the lines of steps before
  /// the first line added; false: the file starts empty. The file is opened at the first line.
  MetricsFile(std::string path, bool resumed) : path_(std::move(path)), resumed_(resumed) {}

  /// Appends the line of a training step, given without a line break, to the metrics file. Fails
  /// with `kRuntime`, naming the file and the reason, when it cannot be written.
  void add(std::int64_t step, std::string_view line);
  /// Closes the metrics file. Fails with `kRuntime` if its last bytes cannot be written.
  void close();

 private:
  void open(std::int64_t step);

  std::string path_;
  bool resumed_;
  std::optional<AppendedFile> file_;
};

}  // namespace stepwright::runtime
