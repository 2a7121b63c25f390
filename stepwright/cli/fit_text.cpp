#include "stepwright/cli/fit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "stepwright/core/table.h"

namespace stepwright::cli {
namespace {

/// The most rows shown for each reason.
constexpr std::size_t kShownRows = 5;

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::size_t sum_of(const std::map<std::string, std::size_t>& counts) {
  std::size_t sum = 0;
  for (const auto& [reason, count] : counts) sum += count;
  return sum;
}

std::string verdict(const fit::FittedOperator& fitted) {
  if (!fitted.refused.empty()) return "refused: " + fitted.refused;
  if (!fitted.derived.empty()) return "derived: " + fitted.derived;
  return std::string(name_of(cost::kFitKindNames, fitted.entry.kind));
}

double chosen_mean(const fit::FittedOperator& fitted, double fit::OperatorFitErrors::* value) {
  const fit::FitCandidateErrors& errors = fitted.errors;
  switch (fitted.entry.kind) {
    case cost::FitModelKind::kLaw: return errors.law.*value;
    case cost::FitModelKind::kTrees: return errors.trees.*value;
    default: return errors.law_times_trees.*value;
  }
}

/// Returns a line with the median of the mean errors of all series and passes.
std::string median_line(const fit::DeviceFit& fit) {
  std::vector<double> means;
  for (const fit::FittedOperator& fitted : fit.operators) {
    if (!fitted.refused.empty()) continue;
    for (const auto& [name, error] : fitted.by_series) means.push_back(error.mean);
  }
  if (means.empty()) return {};
  std::ranges::sort(means);
  return fmt::format(
      "The mean errors of {} (each of an operator and a direction) have a median of {}% on sizes "
      "left out.\n",
      count_with_noun(static_cast<std::int64_t>(means.size()), "fit"),
      percent(means[means.size() / 2]));
}

/// Returns the name of a fitted class: "product", "attention, cudnn".
std::string fitted_name(const cost::OperatorClassFit& entry) {
  const std::string_view name = name_of(cost::kOperatorClassNames, entry.what);
  if (entry.what != cost::OperatorClass::kAttention) return std::string(name);
  return fmt::format("{}, {}", name, name_of(cluster::kAttentionKernelNames, entry.kernel));
}

}  // namespace

std::string operator_fit_table(const fit::DeviceFit& fit) {
  TextTable table{.columns = {{"operator"},
                              {"pass"},
                              {"rows", ColumnAlignment::kRight},
                              {"dropped", ColumnAlignment::kRight},
                              {"law", ColumnAlignment::kRight},
                              {"trees", ColumnAlignment::kRight},
                              {"both", ColumnAlignment::kRight},
                              {"defaults", ColumnAlignment::kRight},
                              {"p90", ColumnAlignment::kRight},
                              {"chosen"}},
                  .rows = {}};
  for (const fit::FittedOperator& fitted : fit.operators) {
    const fit::FitCandidateErrors& errors = fitted.errors;
    table.rows.push_back(
        {fitted_name(fitted.entry), std::string(name_of(cost::kPassNames, fitted.entry.pass)),
         fmt::format("{}", fitted.rows), fmt::format("{}", sum_of(fitted.dropped)),
         percent(errors.law.mean), percent(errors.trees.mean), percent(errors.law_times_trees.mean),
         percent(errors.unfitted.mean), percent(chosen_mean(fitted, &fit::OperatorFitErrors::p90)),
         verdict(fitted)});
    if (fitted.by_series.size() < 2) continue;
    for (const auto& [name, error] : fitted.by_series) {
      table.rows.push_back({"  " + name, "", fmt::format("{}", error.rows), "", "", "",
                            percent(error.mean), "", percent(error.p90), ""});
    }
  }
  return "Mean error in % on hidden sizes left out of the fit: by a law, by trees, by both, by "
         "the\n"
         "defaults of a device that nobody measured; p90: nine of ten rows of the chosen one are "
         "below\n\n" +
         format_text_table(table) + "\n" + median_line(fit);
}

std::string dropped_measurement_rows_text(std::span<const fit::UnusableOperatorRow> dropped) {
  std::map<std::string, std::vector<const fit::UnusableOperatorRow*>> by_reason;
  for (const fit::UnusableOperatorRow& row : dropped) {
    by_reason[row.reason].push_back(&row);
  }
  std::string text;
  for (const auto& [reason, rows] : by_reason) {
    text += fmt::format("{} dropped: {}\n",
                        count_with_noun(static_cast<std::int64_t>(rows.size()), "row"), reason);
    for (std::size_t i = 0; i < std::min(rows.size(), kShownRows); ++i) {
      text += fmt::format("  {}:{}: {}\n", rows[i]->file, rows[i]->line, rows[i]->detail);
    }
    if (rows.size() > kShownRows) text += fmt::format("  and {} more\n", rows.size() - kShownRows);
  }
  return text;
}

}  // namespace stepwright::cli
