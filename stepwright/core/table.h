#pragma once

#include <string>
#include <vector>

namespace stepwright {

/// The side to which the cells of a column are pushed.
enum class Align { kLeft, kRight };

/// A column of a table.
struct Column {
  std::string header;
  Align align = Align::kLeft;
};

/// A table for the terminal. Every row has one cell for each column.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// The table as lines of text: headers, a rule, rows; two spaces between columns, none at the end
/// of a line. A cell is shown on one line, as `printable` does, and cut where it is long. Widths
/// count characters of UTF-8, not bytes. Fails with `kRuntime` when a row has too few or too many
/// cells.
std::string to_text(const Table& given);

}  // namespace stepwright
