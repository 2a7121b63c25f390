#include "stepwright/fit/samples/own_sample.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"

namespace stepwright::fit {
namespace {

/// Limits of times, from a picosecond to 11 days: a measured profile holds no other times.
constexpr double kLeastSeconds = 1e-12;
constexpr double kMostSeconds = 1e6;
/// Most FLOPs or bytes of one computation.
constexpr double kMostAmount = 1e30;

std::string header_of(const CsvTable& table) {
  return fmt::format("{}", fmt::join(table.header, ","));
}

/// The cells of one row by column title.
class Row {
 public:
  Row(const CsvTable& table, const CsvRow& row) : table_(table), row_(row) {}

  [[nodiscard]] double number(std::string_view title, double least, double most) const {
    const std::optional<double> value = read_double(cell(title));
    if (!value || !(*value >= least && *value <= most)) {
      fail(title, fmt::format("a number from {} to {}", least, most));
    }
    return *value;
  }
  [[nodiscard]] double bytes(std::string_view title) const {
    return number(title, 1, cost::kMaxMeasuredMessageBytes);
  }
  /// Returns the seconds of one call.
  [[nodiscard]] double seconds(std::string_view title) const {
    return number(title, kLeastSeconds, kMostSeconds);
  }
  /// Returns the FLOPs or bytes of a computation; 0: none.
  [[nodiscard]] double amount(std::string_view title) const {
    const double value = number(title, 0, kMostAmount);
    if (value > 0 && value < 1) fail(title, "0 or a number from 1");
    return value;
  }
  [[nodiscard]] std::int64_t count(std::string_view title) const {
    const double value = number(title, 1, cost::kMaxMeasuredGroupRanks);
    const auto whole = static_cast<std::int64_t>(value);
    if (static_cast<double>(whole) != value) fail(title, "a whole number");
    return whole;
  }
  [[nodiscard]] const std::string& text(std::string_view title) const { return cell(title); }
  template <class EnumNamedByWord, std::size_t kCount>
  [[nodiscard]] EnumNamedByWord word(std::string_view title,
                                     const Named<EnumNamedByWord> (&table)[kCount]) const {
    for (const Named<EnumNamedByWord>& each : table) {
      if (each.name == cell(title)) return each.value;
    }
    fail(title, "a word of docs/formats.md");
  }

 private:
  [[nodiscard]] const std::string& cell(std::string_view title) const {
    return row_.cells[table_.column(title).value()];
  }
  [[noreturn]] void fail(std::string_view title, std::string_view wanted) const {
    fail_input(fmt::format("{}:{}: {}: '{}' is not {}", table_.name, row_.line, title,
                           one_line_printable_text(cell(title)), wanted));
  }

  const CsvTable& table_;
  const CsvRow& row_;
};

constexpr Named<cost::LinkClass> kLinkNames[] = {{cost::LinkClass::kInside, "inside"},
                                                 {cost::LinkClass::kNetwork, "network"}};

/// Returns the algorithm of the schedule that a library's name means; nullopt for c10d's Gloo.
std::optional<collective::CollectiveAlgorithm> method_of(const Row& row) {
  if (row.text("library") == cost::kGlooLibraryName) return std::nullopt;
  return row.word("library", collective::kGeneratedCollectiveAlgorithmNames);
}

OwnCollectiveSample message_of(const Row& row, const std::string& file, std::size_t line) {
  const std::optional<collective::CollectiveAlgorithm> method = method_of(row);
  return {.method = method,
          .chunk_bytes = method ? row.bytes("chunk_bytes") : 0,
          .operation = row.word("operation", cost::kCollectiveNames),
          .group = {.nodes = row.count("nodes"),
                    .members = row.count("ranks_of_node"),
                    .groups = row.count("groups_of_node")},
          .payload_bytes = row.bytes("payload_bytes"),
          .seconds = row.seconds("seconds"),
          .file = file,
          .line = line};
}

OwnComputationSample computation_of(const Row& row, std::size_t line) {
  return {.kind = row.word("operator", step::kOperatorNames),
          .phase = row.word("phase", step::kPhaseNames),
          .dtype = row.word("dtype", kDTypeNames),
          .flops = row.amount("flops"),
          .bytes = row.amount("memory_bytes"),
          .seconds = row.seconds("seconds"),
          .line = line};
}

}  // namespace

bool table_has_own_cluster_timings(const CsvTable& table) {
  const std::string header = header_of(table);
  return header == cost::kMessageSampleCsvHeader || header == cost::kComputationSampleCsvHeader ||
         header == cost::kOverlapSampleCsvHeader;
}

void refuse_misspelt_own_samples(const CsvTable& table) {
  std::vector<std::string_view> titles;
  for (std::string_view header : {cost::kMessageSampleCsvHeader, cost::kComputationSampleCsvHeader,
                                  cost::kOverlapSampleCsvHeader}) {
    for (std::size_t end = 0; end != header.npos; header.remove_prefix(end + 1)) {
      end = header.find(',');
      titles.push_back(header.substr(0, end));
      if (end == header.npos) break;
    }
  }
  table.refuse_misspelt_column_titles(titles);
}

void read_own_cluster_samples(const CsvTable& table, OwnClusterSamples& samples) {
  table.require_table_rows();
  const std::string header = header_of(table);
  for (const CsvRow& cells : table.rows) {
    const Row row(table, cells);
    if (header == cost::kMessageSampleCsvHeader) {
      samples.messages.push_back(message_of(row, table.name, cells.line));
    } else if (header == cost::kComputationSampleCsvHeader) {
      samples.computations.push_back(computation_of(row, cells.line));
    } else {
      samples.overlaps.push_back({.link = row.word("link", kLinkNames),
                                  .computation_s = row.seconds("seconds_computation"),
                                  .message_s = row.seconds("seconds_message"),
                                  .together_s = row.seconds("seconds_together")});
    }
  }
}

}  // namespace stepwright::fit
