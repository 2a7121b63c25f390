#include "stepwright/cli/collective_fit_text.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "stepwright/core/table.h"

namespace stepwright::cli {
namespace {

/// The most lines shown for each reason.
constexpr std::size_t kShownParts = 3;

std::string percent(const fit::RelativeErrorSummary& error) {
  if (error.rows == 0) return "-";
  return fmt::format("{:.1f} / {:.1f}", 100 * error.median, 100 * error.mean);
}

void add_reasons(std::string& text, const std::string& file,
                 const std::vector<fit::DroppedSampleRow>& rows) {
  std::map<std::string, std::vector<const fit::DroppedSampleRow*>> reasons;
  for (const fit::DroppedSampleRow& row : rows)
    reasons[row.skip_reason_without_numbers()].push_back(&row);
  for (const auto& [reason, found] : reasons) {
    for (std::size_t i = 0; i < found.size() && i < kShownParts; ++i) {
      text += fmt::format("  {}:{}: {}\n", file, found[i]->line, found[i]->reason);
    }
    if (found.size() > kShownParts)
      text += fmt::format("  ... and {} more\n", found.size() - kShownParts);
  }
}

}  // namespace

std::string collective_fit_table(const fit::FittedMachineList& fitted) {
  TextTable table{.columns = {{"machine"},
                              {"library"},
                              {"rows", ColumnAlignment::kRight},
                              {"rows left out", ColumnAlignment::kRight},
                              {"below 1 MiB", ColumnAlignment::kRight},
                              {"defaults", ColumnAlignment::kRight},
                              {"layouts left out", ColumnAlignment::kRight},
                              {"defaults", ColumnAlignment::kRight}},
                  .rows = {}};
  std::string refused;
  for (const fit::FittedMachineCollectives& machine : fitted.machines) {
    for (const fit::FittedCollectiveLibrary& library : machine.libraries) {
      const fit::MachineStudy& study = library.study;
      table.rows.push_back(
          {std::string(machine.machine->name), study.library, std::to_string(study.rows),
           percent(study.rows_left_out.all), percent(study.rows_left_out.small),
           percent(study.rows_left_out.unfitted), percent(study.layouts_left_out.all),
           percent(study.layouts_left_out.unfitted)});
      if (library.refused.empty()) continue;
      refused += fmt::format("Refused: {}, {}: {}\n", machine.machine->name, study.library,
                             library.refused);
    }
  }
  return "Error of collectives, median / mean of |predicted / measured - 1| in %, on rows and on "
         "layouts of\n"
         "ranks left out of the fit; defaults: that of a machine that nobody measured\n\n" +
         format_text_table(table) + refused;
}

std::string dropped_samples_text(const fit::FittedMachineList& fitted) {
  std::string text;
  for (const auto& [file, rows] : fitted.dropped) {
    if (rows.empty()) continue;
    text += fmt::format("{} rows of {} dropped:\n", rows.size(), file);
    add_reasons(text, file, rows);
  }
  return text;
}

}  // namespace stepwright::cli
