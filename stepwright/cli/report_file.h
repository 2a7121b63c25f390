#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/cli/command.h"

namespace stepwright::cli {

/// The option `--report FILE` of commands that can also show their answer as a web page with
/// charts.
class ReportFileOption {
 public:
  explicit ReportFileOption(CLI::App& command);

  [[nodiscard]] bool wanted() const { return !path_.empty(); }
  /// Writes a web page to the file of `--report`, and logs that.
  void write_report_page(const Console& console, const std::string& page) const;
  /// Builds the web page of an answer and writes it to the file of `--report`. `answer`: the
  /// document of `--json`; `pictures`: further data that the page's charts need.
  void write_report_page(const Console& console, const std::string& title,
                         const nlohmann::ordered_json& answer,
                         const nlohmann::ordered_json& pictures) const;

 private:
  std::string command_;
  std::string path_;
};

}  // namespace stepwright::cli
