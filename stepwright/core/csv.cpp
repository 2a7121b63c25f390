#include "stepwright/core/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/text_check.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

constexpr std::size_t kLargestFile = std::size_t{256} << 20U;
constexpr std::size_t kMostColumns = 4096;
/// Each cell takes up to 100 bytes of memory beside its text.
constexpr std::size_t kMostCells = 4'000'000;

/// Reads the records of a CSV text one by one.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view name) : text_(text), name_(name) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kMark)) text_.remove_prefix(kMark.size());
  }

  /// Returns the next record; nullopt at the end.
  std::optional<CsvRow> next() {
    while (at_ < text_.size() && end_of_line()) {
    }
    if (at_ >= text_.size()) return std::nullopt;
    CsvRow row{.line = line_, .cells = {}};
    while (true) {
      if (row.cells.size() == kMostColumns) {
        fail(row.line, fmt::format("more than {} columns", kMostColumns));
      }
      if (++cells_ > kMostCells) fail(line_, fmt::format("more than {} cells", kMostCells));
      row.cells.push_back(cell());
      if (at_ >= text_.size() || end_of_line()) return row;
      ++at_;  // the comma
    }
  }

 private:
  /// Skips a line end at the present position, if there is one; returns whether there was one.
  bool end_of_line() {
    const std::size_t length = text_.substr(at_).starts_with("\r\n") ? 2 : 1;
    if (text_[at_] != '\n' && length == 1) return false;
    at_ += length;
    ++line_;
    return true;
  }

  [[nodiscard]] bool cell_ends() const {
    return at_ >= text_.size() || text_[at_] == ',' || text_[at_] == '\n' ||
           text_.substr(at_).starts_with("\r\n");
  }

  std::string cell() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted_cell();
    const std::size_t begin = at_;
    while (!cell_ends()) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted_cell() {
    const std::size_t opened = line_;
    std::string value;
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c != '"') {
        value += c;
      } else if (at_ < text_.size() && text_[at_] == '"') {
        value += text_[at_++];
      } else if (cell_ends()) {
        return value;
      } else {
        fail(line_, "text stands after the quote that closes a cell");
      }
    }
    fail(opened, "a quote is opened here and never closed");
  }

  [[noreturn]] void fail(std::size_t line, std::string_view what) const {
    fail_input(fmt::format("{}:{}: {}", name_, line, what));
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t cells_ = 0;
};

std::string without_blanks(const std::string& title) {
  const std::size_t first = title.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return title.substr(first, title.find_last_not_of(" \t") - first + 1);
}

void check_header(const CsvTable& table) {
  const std::string& first = table.header.front();
  if (table.header.size() == 1 && first.find_first_of(";\t") != std::string::npos) {
    fail_input(fmt::format("{}:1: cells are separated by {}: save the table with commas",
                           table.name,
                           first.find(';') == std::string::npos ? "tabs" : "semicolons"));
  }
  for (auto title = table.header.begin(); title != table.header.end(); ++title) {
    if (title->empty()) fail_input(fmt::format("{}:1: a column has no name", table.name));
    if (std::find(table.header.begin(), title, *title) == title) continue;
    fail_input(fmt::format("{}:1: the column '{}' occurs twice", table.name,
                           one_line_printable_text(*title)));
  }
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view title) const {
  const auto found = std::ranges::find(header, title);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

void CsvTable::require_table_rows() const {
  if (rows.empty()) {
    fail_input(fmt::format("{}: no row below the header; at least one is needed", name));
  }
}

void CsvTable::refuse_misspelt_column_titles(std::span<const std::string_view> titles) const {
  // Shorter titles differ from another word by one letter too easily.
  constexpr std::size_t kShortest = 5;
  constexpr std::size_t kMostEdits = 2;
  std::vector<std::string_view> absent;
  std::ranges::copy_if(titles, std::back_inserter(absent), [&](std::string_view title) {
    return title.size() >= kShortest && !column(title);
  });
  for (const std::string& title : header) {
    if (title.size() < kShortest || std::ranges::find(titles, title) != titles.end()) continue;
    const std::optional<std::string_view> meant = nearest_known_word(title, absent);
    if (!meant || edit_distance(title, *meant) > kMostEdits) continue;
    fail_input(
        fmt::format("{}:1: unknown column '{}'; did you mean '{}'? (give columns of your own a "
                    "name that differs more from known ones)",
                    name, one_line_printable_text(title), *meant));
  }
}

CsvTable parse_csv(std::string_view text, std::string name) {
  CsvTable table{.name = std::move(name), .header = {}, .rows = {}};
  check_file_text(text, table.name);
  CsvReader reader(text, table.name);
  auto header = reader.next();
  if (!header)
    fail_input(fmt::format("{}: empty; a header of column names is missing", table.name));
  std::ranges::transform(header->cells, std::back_inserter(table.header), without_blanks);
  check_header(table);
  while (auto row = reader.next()) {
    if (row->cells.size() != table.header.size()) {
      fail_input(fmt::format("{}:{}: {}; the header names {}", table.name, row->line,
                             count_with_noun(std::ssize(row->cells), "cell"),
                             count_with_noun(std::ssize(table.header), "column")));
    }
    table.rows.push_back(std::move(*row));
  }
  return table;
}

CsvTable load_csv(const std::filesystem::path& path) {
  return parse_csv(read_file_or_standard_input(path, kLargestFile), path.string());
}

}  // namespace stepwright
