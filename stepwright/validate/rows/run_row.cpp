#include "stepwright/validate/rows/run_row.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "stepwright/core/input_file.h"
#include "stepwright/core/trimmed.h"

namespace stepwright::validate {
namespace {

constexpr double kLargest = 0x1p40;

struct TextColumn {
  std::string_view title;
  std::string PublishedRunRow::* value;
};
constexpr TextColumn kTexts[] = {
    {"tier", &PublishedRunRow::tier},   {"gpu", &PublishedRunRow::gpu},
    {"model", &PublishedRunRow::model}, {"job", &PublishedRunRow::job},
    {"plan", &PublishedRunRow::plan},   {"no_plan", &PublishedRunRow::no_plan},
    {"setup", &PublishedRunRow::setup}, {"measured_metric", &PublishedRunRow::metric},
    {"flops", &PublishedRunRow::flops}, {"outcome", &PublishedRunRow::outcome},
    {"peak", &PublishedRunRow::peak},   {"peak_of", &PublishedRunRow::peak_of}};

/// Columns in which sources write free text.
constexpr std::string_view kProse[] = {"framework",          "moe",       "precision",    "sp",
                                       "zero_stage_or_fsdp", "recompute", "overlap_notes"};

struct CountColumn {
  std::string_view title;
  std::optional<std::int64_t> PublishedRunRow::* value;
};
constexpr CountColumn kCounts[] = {
    {"gpus", &PublishedRunRow::gpus},
    {"layers", &PublishedRunRow::layers},
    {"hidden", &PublishedRunRow::hidden},
    {"heads", &PublishedRunRow::heads},
    {"kv_heads", &PublishedRunRow::kv_heads},
    {"ffn_hidden", &PublishedRunRow::ffn},
    {"vocab", &PublishedRunRow::vocabulary},
    {"seq_len", &PublishedRunRow::length},
    {"global_batch", &PublishedRunRow::global_batch},
    {"micro_batch", &PublishedRunRow::micro_batch},
    {"tp", &PublishedRunRow::tensor},
    {"pp", &PublishedRunRow::pipeline},
    {"vpp", &PublishedRunRow::chunks},
    {"cp", &PublishedRunRow::context},
    {"ep", &PublishedRunRow::expert},
};

struct NumberColumn {
  std::string_view title;
  std::optional<double> PublishedRunRow::* value;
};
constexpr NumberColumn kNumbers[] = {{"measured_value", &PublishedRunRow::measured},
                                     {"trust", &PublishedRunRow::trust},
                                     {"memory_value_gib", &PublishedRunRow::memory_gib}};

std::string host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return std::string(url.substr(0, url.find('/')));
}

SkippedRowReason bad_cell(std::string_view title) {
  return {fmt::format("column {}: not a number above zero", title)};
}

/// Returns a reason to skip a row with free text that has not been translated into settings of a
/// job and plan; nullopt: none.
std::optional<SkippedRowReason> unread_prose(const CsvTable& table, const CsvRow& row,
                                             const PublishedRunRow& run) {
  if (!run.job.empty() || !run.plan.empty() || !run.no_plan.empty()) return std::nullopt;
  for (const std::string_view title : kProse) {
    if (cell(table, row, title).empty()) continue;
    return SkippedRowReason{fmt::format("column {}: not read", title),
                            "say it in columns job and plan, which tools/data/row_words.py writes"};
  }
  return std::nullopt;
}

}  // namespace

std::string row_id_without_number(const std::string& id) {
  const std::size_t dash = id.rfind('-');
  if (dash == std::string::npos || dash == 0) return id;
  const bool number =
      dash + 1 < id.size() && id.find_first_not_of("0123456789", dash + 1) == std::string::npos;
  return number ? id.substr(0, dash) : id;
}

std::string_view cell(const CsvTable& table, const CsvRow& row, std::string_view title) {
  const auto column = table.column(title);
  return column ? trimmed(row.cells[*column]) : std::string_view{};
}

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc{} && end == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value <= 0 || value > kLargest) return std::nullopt;
  return value;
}

TableRowName row_name(const CsvTable& table, const CsvRow& row) {
  TableRowName name{std::string(cell(table, row, "id")), {}};
  if (!name.id.empty()) {
    name.source = row_id_without_number(name.id);
    return name;
  }
  name.id = std::to_string(row.line);
  name.source = host_of(cell(table, row, "source_url"));
  if (name.source.empty()) name.source = std::filesystem::path(table.name).stem().string();
  return name;
}

std::string cluster_named_by_row(const CsvTable& table, const CsvRow& row) {
  std::string name(cell(table, row, "cluster"));
  if (name.find_first_of("./") == std::string::npos) return name;
  const std::filesystem::path beside = std::filesystem::path(table.name).parent_path() / name;
  return path_exists(beside) ? beside.string() : name;
}

std::vector<std::string_view> measured_run_table_columns() {
  std::vector<std::string_view> titles = {"id", "source_url", "cluster"};
  for (const TextColumn& column : kTexts) titles.push_back(column.title);
  for (const CountColumn& column : kCounts) titles.push_back(column.title);
  for (const NumberColumn& column : kNumbers) titles.push_back(column.title);
  titles.insert(titles.end(), std::begin(kProse), std::end(kProse));
  return titles;
}

std::variant<PublishedRunRow, SkippedRowReason> read_measured_run_row(const CsvTable& table,
                                                                      const CsvRow& row) {
  PublishedRunRow run;
  run.line = row.line;
  const TableRowName name = row_name(table, row);
  run.id = name.id;
  run.source = name.source;
  run.folder = std::filesystem::path(table.name).parent_path().string();
  run.cluster = cluster_named_by_row(table, row);
  for (const TextColumn& column : kTexts) run.*column.value = cell(table, row, column.title);
  for (const CountColumn& column : kCounts) {
    const std::string_view text = cell(table, row, column.title);
    if (text.empty()) continue;
    const auto value = positive_number(text);
    if (!value || *value != std::floor(*value)) return bad_cell(column.title);
    run.*column.value = static_cast<std::int64_t>(*value);
  }
  for (const NumberColumn& column : kNumbers) {
    const std::string_view text = cell(table, row, column.title);
    if (text.empty()) continue;
    const auto value = positive_number(text);
    if (!value) return bad_cell(column.title);
    run.*column.value = value;
  }
  if (auto unread = unread_prose(table, row, run)) return *std::move(unread);
  return run;
}

}  // namespace stepwright::validate
