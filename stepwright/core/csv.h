#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright {

/// One row of a comma-separated table, with its cells.
struct CsvRow {
  std::size_t line = 0;  ///< Line of the file on which the row begins, from 1.
  std::vector<std::string> cells;
};

/// A table of comma-separated values with a header, by RFC 4180: a cell in quotes may hold commas,
/// doubled quotes and line ends. Records end with LF or CRLF; empty lines are skipped. Every record
/// has as many cells as the header; blanks around titles are removed.
struct CsvTable {
  std::string name;  ///< Name of the table's file, for messages.
  std::vector<std::string> header;
  std::vector<CsvRow> rows;

  /// Returns the index of the column with this title; nullopt if the table has none.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view title) const;
  /// Fails with `kInput` if the table has only a header.
  void require_table_rows() const;
  /// Catches misspelt column titles: fails with `kInput` if an unknown column is within two edits
  /// of one of `titles` that the table lacks. Other unknown columns are allowed.
  void refuse_misspelt_column_titles(std::span<const std::string_view> titles) const;
};

/// Reads a comma-separated table from a text. Fails with `kInput`, naming file and line, if it is
/// not UTF-8 text, has no header, more than 4,096 columns or 4,000,000 cells, a column without a
/// name or with another's name, a row with too few or too many cells, or a quote that never closes
/// or is followed by text.
CsvTable parse_csv(std::string_view text, std::string name);

/// Reads a comma-separated table from a file of at most 256 MiB. Fails with `kInput` if the file
/// cannot be read or is malformed.
CsvTable load_csv(const std::filesystem::path& path);

}  // namespace stepwright
