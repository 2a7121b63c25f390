#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright {

/// One record of a table of comma-separated values.
struct CsvRow {
  std::size_t line = 0;  ///< Line on which the row begins, from 1.
  std::vector<std::string> cells;
};

/// A table of comma-separated values with a header: RFC 4180, so that a cell in quotes may hold
/// commas, doubled quotes and line ends. Records end with LF or CRLF; empty lines are passed over.
/// Every record has as many cells as the header, whose titles have no blanks around them.
struct CsvTable {
  std::string name;  ///< Name of the file, for messages.
  std::vector<std::string> header;
  std::vector<CsvRow> rows;

  /// The position of a column of the header.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view title) const;
  /// Fails with `kInput` where no row stands below the header.
  void need_rows() const;
  /// Checks a table that may have columns of its own beside `titles`. Fails with `kInput` at a
  /// column that is nearly one of them which the table lacks: it would be passed over in silence.
  void refuse_misspelt(std::span<const std::string_view> titles) const;
};

/// Reads a text. Fails with `kInput`, naming file and line: no text (`check_text`), no header,
/// more than 4,096 columns or 4,000,000 cells, a column named twice or not at all, a record with
/// too few or too many cells, a quote that never closes or that text follows.
CsvTable parse_csv(std::string_view text, std::string name);

/// Reads a file of at most 256 MiB. Fails with `kInput` as above, or when it cannot be read.
CsvTable load_csv(const std::filesystem::path& path);

}  // namespace stepwright
