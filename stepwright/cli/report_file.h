#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/cli/command.h"

namespace stepwright::cli {

/// The option `--report`, for commands whose answer can be shown as charts.
class ReportFile {
 public:
  explicit ReportFile(CLI::App& command);

  [[nodiscard]] bool wanted() const { return !path_.empty(); }
  /// Writes the page to the file of the option, and logs that.
  void write(const Console& console, const std::string& page) const;
  /// Builds and writes the page of an answer. `answer`: the document of `--json`, followed by the
  /// additional data that the page's charts need.
  void write(const Console& console, const std::string& title, const nlohmann::ordered_json& answer,
             const nlohmann::ordered_json& pictures) const;

 private:
  std::string command_;
  std::string path_;
};

}  // namespace stepwright::cli
