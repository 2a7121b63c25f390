#include "stepwright/core/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

using Row = std::vector<std::string>;

void check_rows(const TextTable& table) {
  for (const Row& row : table.rows) {
    if (row.size() == table.columns.size()) continue;
    throw Error(ErrorKind::kRuntime, fmt::format("a table row has {} cells for {} columns",
                                                 row.size(), table.columns.size()));
  }
}

std::vector<std::size_t> widths_of(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t widest = count_characters(table.columns[i].header);
    for (const Row& row : table.rows) widest = std::max(widest, count_characters(row[i]));
    widths.push_back(widest);
  }
  return widths;
}

std::string line_of(const TextTable& table, const std::vector<std::size_t>& widths,
                    const Row& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - count_characters(cells[i]), ' ');
    const bool right = table.columns[i].align == ColumnAlignment::kRight;
    if (i > 0) line += "  ";
    line += right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

/// Returns a table whose cells are one line each and are cut if they are long.
TextTable shown(TextTable table) {
  constexpr std::size_t kLongestCell = 400;
  for (Row& row : table.rows) {
    for (std::string& cell : row) cell = one_line_printable_text(cell, kLongestCell);
  }
  return table;
}

}  // namespace

std::string format_text_table(const TextTable& given) {
  check_rows(given);
  const TextTable table = shown(given);
  const std::vector<std::size_t> widths = widths_of(table);
  Row headers;
  Row rules;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    headers.push_back(table.columns[i].header);
    rules.emplace_back(widths[i], '-');
  }
  std::string text = line_of(table, widths, headers) + line_of(table, widths, rules);
  for (const Row& row : table.rows) text += line_of(table, widths, row);
  return text;
}

}  // namespace stepwright
