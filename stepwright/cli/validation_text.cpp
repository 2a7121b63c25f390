#include "stepwright/cli/validation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"

namespace stepwright::cli {
namespace {

constexpr std::size_t kWorst = 10;

std::string signed_percent(double fraction) { return fmt::format("{:+.1f}%", 100 * fraction); }

std::vector<TableColumn> error_columns(const std::string& first) {
  return {{first},
          {"rows", ColumnAlignment::kRight},
          {"median", ColumnAlignment::kRight},
          {"mean", ColumnAlignment::kRight},
          {"p90", ColumnAlignment::kRight},
          {"signed", ColumnAlignment::kRight},
          {"within 10%", ColumnAlignment::kRight}};
}

std::vector<std::string> error_row(const std::string& first,
                                   const validate::ErrorStatistics& errors) {
  return {first,
          std::to_string(errors.used),
          format_percent(errors.median_abs),
          format_percent(errors.mean_abs),
          format_percent(errors.p90_abs),
          signed_percent(errors.mean_signed),
          format_percent(errors.within_10_percent)};
}

std::string groups_text(const validate::Validation& v) {
  std::string text;
  const auto groups = validate::prediction_error_group_keys(v.kind);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    TextTable table{.columns = error_columns(std::string(groups[i])), .rows = {}};
    for (const auto& [word, errors] : v.groups[i]) table.rows.push_back(error_row(word, errors));
    text += '\n' + format_text_table(table);
  }
  return text;
}

std::string skipped_text(const std::map<std::string, validate::SkippedRows>& skipped,
                         const std::string& title) {
  if (skipped.empty()) return "";
  TextTable table{.columns = {{title}, {"rows", ColumnAlignment::kRight}, {"first"}}, .rows = {}};
  for (const auto& [reason, rows] : skipped) {
    table.rows.push_back({reason, std::to_string(rows.count), rows.first});
  }
  return '\n' + format_text_table(table);
}

/// Returns the median over operators of their mean errors, so that each operator counts once,
/// whatever its number of rows.
std::string operators_text(const validate::Validation& v) {
  if (v.kind != validate::MeasurementTableKind::kOperatorSamples || v.errors.used == 0) return "";
  constexpr std::size_t kOperator = 2;
  std::vector<double> means;
  for (const auto& [word, errors] : v.groups[kOperator]) means.push_back(errors.mean_abs);
  return fmt::format("\nThe median of the mean errors of {} operators is {}.\n", means.size(),
                     format_percent(validate::error_statistics(means).median_abs));
}

std::string labels_text(const validate::MemoryFitLabelCounts& labels) {
  std::string text = fmt::format(
      "\nFits or out of memory (OOM): {} rows are predicted right, {} wrong ({} that fit are "
      "called\n"
      "OOM, {} that ran out of memory are said to fit). Of rows more than 5 % away from the "
      "capacity\n"
      "{} are right and {} wrong.\n",
      labels.right, labels.wrong, labels.fits_called_oom, labels.oom_called_fits,
      labels.clear_right, labels.clear_wrong);
  for (const auto& [oom, fits] : labels.contradictory) {
    text += fmt::format(
        "Not judged, because they contradict each other: {} ran out of memory, {} needs as much "
        "and fits.\n",
        oom, fits);
  }
  return text;
}

/// Returns text about the quality of the plans that predictions would choose.
std::string choices_text(const validate::PlanChoiceQuality& choices) {
  if (choices.groups == 0) return "";
  return fmt::format(
      "\nOf {} groups of plans for the same job the predicted fastest is the fastest in {}.\n"
      "The plan chosen so is slower than the fastest by {} in the mean, {} in the median and {} "
      "at\n"
      "worst; the order of times has a Kendall's tau of {:.2f} in the median.\n",
      choices.groups, choices.best_chosen, format_percent(choices.mean_regret),
      format_percent(choices.median_regret), format_percent(choices.worst_regret),
      choices.median_tau);
}

std::string inside_text(double share) {
  return fmt::format("\n{} of the measured times are inside the predicted 80% interval.\n",
                     format_percent(share));
}

std::string value_text(validate::MeasurementTableKind kind, double value) {
  const bool bytes = kind == validate::MeasurementTableKind::kMemory ||
                     kind == validate::MeasurementTableKind::kLaunches;
  return bytes ? format_bytes(value) : format_time(value);
}

/// Returns the most informative part of a bad row: the largest term of a run, or the operator or
/// collective of a sample.
std::string about(const validate::TableRowPrediction& row) {
  if (!row.terms.empty()) return std::string(row.largest_term());
  return fmt::format("{}", fmt::join(row.groups.begin() + 2, row.groups.end(), ", "));
}

std::string worst_text(const validate::Validation& v) {
  std::vector<const validate::TableRowPrediction*> rows;
  for (const validate::TableRowPrediction& row : v.results) {
    if (row.measured > 0) rows.push_back(&row);
  }
  const std::size_t count = std::min(kWorst, rows.size());
  if (count == 0) return "";
  std::ranges::stable_sort(
      rows, [](const validate::TableRowPrediction* a, const validate::TableRowPrediction* b) {
        return std::abs(a->error) > std::abs(b->error);
      });
  TextTable table{.columns = {{"worst"},
                              {"predicted", ColumnAlignment::kRight},
                              {"measured", ColumnAlignment::kRight},
                              {"error", ColumnAlignment::kRight},
                              {v.results.front().terms.empty() ? "what" : "largest term"}},
                  .rows = {}};
  for (std::size_t i = 0; i < count; ++i) {
    table.rows.push_back({rows[i]->id, value_text(v.kind, rows[i]->predicted),
                          value_text(v.kind, rows[i]->measured), signed_percent(rows[i]->error),
                          about(*rows[i])});
  }
  return '\n' + format_text_table(table);
}

}  // namespace

std::string prediction_validation_text(const validate::Validation& v) {
  std::string text = fmt::format("{}: {} of {} rows are used.\n",
                                 name_of(validate::kTableKindNames, v.kind), v.used, v.rows);
  text += skipped_text(v.skipped, "rows skipped because");
  text += skipped_text(v.left_out, "rows with one direction left out because");
  if (v.errors.used > 0) {
    TextTable all{.columns = error_columns("error"), .rows = {error_row("all", v.errors)}};
    text +=
        "\nErrors are |predicted / measured - 1|; p90: nine of ten rows are below; signed: the "
        "mean "
        "with its sign, above 0 where the prediction is too long.\n\n" +
        format_text_table(all) + groups_text(v) + operators_text(v);
  }
  if (v.labels) text += labels_text(*v.labels);
  if (v.choices) text += choices_text(*v.choices);
  if (v.inside_interval) text += inside_text(*v.inside_interval);
  return text + worst_text(v);
}

std::string no_usable_rows_text(const std::string& file, const validate::Validation& validation) {
  return fmt::format(
      "{}: none of its {} rows can be used{}", file, validation.rows,
      validation.skipped.empty() ? "" : ":\n" + skipped_text(validation.skipped, "skipped"));
}

}  // namespace stepwright::cli
