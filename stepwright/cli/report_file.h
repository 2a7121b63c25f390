#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/cli/command.h"

namespace stepwright::cli {

/// The option `--report` of commands whose answer can be shown as pictures.
class ReportFile {
 public:
  explicit ReportFile(CLI::App& command);

  [[nodiscard]] bool wanted() const { return !path_.empty(); }
  /// Writes the page, and says so.
  void write(const Console& console, const std::string& page) const;
  /// Writes the page of an answer as `--json` prints it and what its pictures need beside it.
  void write(const Console& console, const std::string& title, const nlohmann::ordered_json& answer,
             const nlohmann::ordered_json& pictures) const;

 private:
  std::string command_;
  std::string path_;
};

}  // namespace stepwright::cli
