#include "stepwright/cli/report_file.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "stepwright/answers/report_text.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/output.h"

namespace stepwright::cli {

ReportFileOption::ReportFileOption(CLI::App& command) : command_(command.get_name()) {
  mark_option_as_output(
      command.add_option(
          "--report", path_,
          "Write the answer as an HTML page with pictures and tables, which needs no network"))
      ->type_name("HTML");
}

void ReportFileOption::write_report_page(const Console& console, const std::string& page) const {
  write_file(path_, page);
  console.log.info(fmt::format("wrote the report to {}", path_));
}

void ReportFileOption::write_report_page(const Console& console, const std::string& title,
                                         const nlohmann::ordered_json& answer,
                                         const nlohmann::ordered_json& pictures) const {
  write_report_page(console, answers::command_report_page(command_, title, answer, pictures));
}

}  // namespace stepwright::cli
