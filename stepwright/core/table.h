#pragma once

#include <string>
#include <vector>

namespace stepwright {

/// The side to which the cells of a column are aligned.
enum class Align { kLeft, kRight };

/// A column of a table.
struct TableColumn {
  std::string header;
  Align align = Align::kLeft;
};

/// A table for the terminal. Every row has one cell for each column.
struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Returns the table as lines of text: headers, a rule, rows; two spaces between columns, none at
/// the end of a line. Each cell is shown on one line (`printable`) and cut if it is long. Widths
/// count UTF-8 characters, not bytes. Fails with `kRuntime` if a row has too few or too many cells.
std::string to_text(const Table& given);

}  // namespace stepwright
