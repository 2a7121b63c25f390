#pragma once

#include <string>
#include <vector>

namespace stepwright {

/// Side to which the cells of a table's column are aligned.
enum class ColumnAlignment { kLeft, kRight };

/// Title and alignment of a table's column.
struct TableColumn {
  std::string header;
  ColumnAlignment align = ColumnAlignment::kLeft;
};

/// A table of texts for the terminal. Every row has one cell for each column.
struct TextTable {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Returns a table as lines of text: headers, a rule, rows; columns are two spaces apart. Each cell
/// is shown on one line, with control characters escaped, and cut if it is long. Widths count
/// characters, not bytes. Fails with `kRuntime` if a row has too few or too many cells.
std::string format_text_table(const TextTable& given);

}  // namespace stepwright
