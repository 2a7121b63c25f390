#include "stepwright/cli/remedies_text.h"

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cli {
namespace {

/// The most characters of a cell, and the most lines of a remedy.
constexpr std::size_t kWidestWords = 72;
constexpr std::size_t kMostLines = 6;

}  // namespace

std::string memory_remedies_table(const std::vector<check::MemoryRemedyWithFlags>& remedies) {
  if (remedies.empty()) return "";
  TextTable table{.columns = {{"it fits with"},
                              {"step", ColumnAlignment::kRight},
                              {"memory", ColumnAlignment::kRight},
                              {"set"}},
                  .rows = {}};
  for (const auto& [remedy, words] : remedies) {
    const std::size_t lines = std::min(words.size(), kMostLines);
    for (std::size_t i = 0; i < std::max<std::size_t>(1, lines); ++i) {
      std::vector<std::string> row = {"", "", ""};
      if (i == 0) {
        row = {std::string(tune::memory_remedy_name(remedy.kind)), format_time(remedy.step_time_s),
               format_bytes(remedy.peak_memory_bytes)};
      }
      const bool cut = i + 1 == kMostLines && words.size() > kMostLines;
      row.push_back(cut         ? "... (`--json` has all)"
                    : i < lines ? one_line_printable_text(words[i], kWidestWords)
                                : "");
      table.rows.push_back(std::move(row));
    }
  }
  return "\nChanges with which it fits, each by itself\n\n" + format_text_table(table);
}

}  // namespace stepwright::cli
