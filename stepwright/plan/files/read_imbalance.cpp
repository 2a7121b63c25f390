#include "stepwright/plan/files/read_imbalance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/files/document_batch.h"

namespace stepwright::plan {
namespace {

constexpr double kMostTokens = 1e18;
constexpr double kMostImbalance = 1e6;

std::vector<double> listed_tokens(DocumentNode list) {
  std::vector<double> tokens;
  for (std::size_t i = 0; i < list.size(); ++i) tokens.push_back(list.at(i).number(0, kMostTokens));
  return tokens;
}

/// Reads a cell of a table as a number of tokens.
double tokens_in(const CsvTable& table, std::size_t line, const std::string& cell) {
  const std::size_t first = cell.find_first_not_of(' ');
  const std::size_t last = cell.find_last_not_of(' ');
  const std::string word = first == std::string::npos ? "" : cell.substr(first, last - first + 1);
  const auto value = read_double(word);
  if (value && *value >= 0 && *value <= kMostTokens) return *value;
  fail_input(fmt::format("{}:{}: tokens of an expert must be a number from 0 to {:g}, not '{}'",
                         table.name, line, kMostTokens, one_line_printable_text(cell)));
}

/// Returns all cells of a file without column names; its first line was read as names.
std::vector<double> plain_tokens(const CsvTable& table) {
  std::vector<double> tokens;
  for (const std::string& cell : table.header) tokens.push_back(tokens_in(table, 1, cell));
  for (const CsvRow& row : table.rows) {
    for (const std::string& cell : row.cells) tokens.push_back(tokens_in(table, row.line, cell));
  }
  return tokens;
}

/// Returns the column `tokens`, ordered by the column `expert` if there is one.
std::vector<double> tokens_of_column(const CsvTable& table) {
  const auto column = table.column("tokens");
  static constexpr std::string_view kColumns[] = {"tokens", "expert"};
  table.refuse_misspelt_column_titles(kColumns);
  if (!column) {
    fail_input(fmt::format("{}: must have a column 'tokens', or numbers alone", table.name));
  }
  const auto expert = table.column("expert");
  std::vector<double> tokens(table.rows.size(), -1);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CsvRow& row = table.rows[i];
    std::size_t place = i;
    if (expert) {
      const auto number = read_double(row.cells[*expert]);
      const bool good = number && *number >= 0 && *number < static_cast<double>(tokens.size()) &&
                        *number == std::floor(*number);
      if (!good || tokens[static_cast<std::size_t>(*number)] >= 0) {
        fail_input(fmt::format("{}:{}: expert '{}': must be each of 0 to {} once", table.name,
                               row.line, one_line_printable_text(row.cells[*expert]),
                               tokens.size() - 1));
      }
      place = static_cast<std::size_t>(*number);
    }
    tokens[place] = tokens_in(table, row.line, row.cells[*column]);
  }
  return tokens;
}

std::vector<double> load_tokens(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".json" || extension == ".yaml" || extension == ".yml") {
    const YamlJsonDocument document = YamlJsonDocument::load(path);
    if (!document.root().is_sequence()) {
      document.root().fail("must be a list of the tokens of each expert");
    }
    return listed_tokens(document.root());
  }
  const CsvTable table = load_csv(path);
  const bool named = !read_double(table.header.front());
  return named ? tokens_of_column(table) : plain_tokens(table);
}

/// Fails unless there is a number for each of the model's experts, and one is above 0.
void check_tokens(DocumentNode node, const Job& job) {
  if (!job.model.experts) {
    node.fail(fmt::format("{} has no experts", one_line_printable_text(job.model_name)));
  }
  const std::int64_t count = job.model.experts->count;
  const std::int64_t given = std::ssize(job.expert_tokens);
  if (given != count) {
    node.fail(fmt::format("must have a number for each of the {} experts, not {}", count, given));
  }
  const auto chosen = [](double tokens) { return tokens > 0; };
  if (std::ranges::none_of(job.expert_tokens, chosen)) {
    node.fail("must not be 0 for every expert");
  }
}

}  // namespace

void read_expert_imbalance(DocumentNode node, const std::filesystem::path& directory, Job& job) {
  if (node.is_scalar()) {
    job.imbalance = node.number(1, kMostImbalance);
    return;
  }
  if (node.is_mapping()) {
    node.allow_only_keys({"file"});
    job.expert_tokens = load_tokens(read_absolute_path(node.get("file"), directory));
  } else {
    job.expert_tokens = listed_tokens(node);
  }
  check_tokens(node, job);
}

}  // namespace stepwright::plan
