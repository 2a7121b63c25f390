#include "stepwright/fit/operators/hold_out.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepwright::fit {
namespace {

constexpr std::size_t kFolds = 6;

std::vector<std::size_t> folds_of(std::span<const OperatorFitRow> rows) {
  std::vector<std::int64_t> sizes;
  for (const OperatorFitRow& row : rows) sizes.push_back(row.sample->hold_out);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<std::size_t> folds;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto place = std::ranges::lower_bound(sizes, rows[i].sample->hold_out) - sizes.begin();
    folds.push_back((sizes.size() > 1 ? static_cast<std::size_t>(place) : i) % kFolds);
  }
  return folds;
}

double capped(double seconds, const OperatorFitRow& row) { return std::max(seconds, row.floor_s); }

double clamped(const cost::OperatorClassFit& entry, const OperatorFitRow& row) {
  return std::clamp(entry.trees.predict_from_features(row.inputs.all()), entry.lowest_log,
                    entry.highest_log);
}

/// Predicts the rows of one fold by fits to the other folds.
void hold_out_fold(std::span<const OperatorFitRow> rows, const std::vector<std::size_t>& folds,
                   std::size_t fold, const FitSetting& setting, HeldOutPredictions& out) {
  std::vector<OperatorFitRow> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (folds[i] != fold) seen.push_back(rows[i]);
  }
  if (seen.size() == rows.size()) return;
  cost::OperatorClassFit law{
      .what = setting.what, .pass = setting.pass, .kind = cost::FitModelKind::kLawTimesTrees};
  law.law = fit_operator_law(setting.what, law_rows(seen), setting.peaks);
  fit_operator_boosted_trees(law, seen, setting);
  cost::OperatorClassFit trees{
      .what = setting.what, .pass = setting.pass, .kind = cost::FitModelKind::kTrees};
  fit_operator_boosted_trees(trees, seen, setting);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (folds[i] != fold) continue;
    const OperatorFitRow& row = rows[i];
    const double law_s = seconds_by_fitted_law(law.law, row, setting);
    out.law[i] = capped(law_s, row);
    out.law_times_trees[i] = capped(law_s * std::exp(clamped(law, row)), row);
    out.trees[i] = capped(std::exp(clamped(trees, row)), row);
  }
}

OperatorFitErrors fit_error(std::vector<double> ratios) {
  OperatorFitErrors error{.rows = ratios.size()};
  if (ratios.empty()) return error;
  const auto middle = [](std::vector<double>& values, double share) {
    const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::ranges::nth_element(values, values.begin() + place);
    return values[static_cast<std::size_t>(place)];
  };
  error.bias = middle(ratios, 0.5);
  for (double& ratio : ratios) {
    ratio = std::abs(ratio);
    error.mean += ratio / static_cast<double>(ratios.size());
  }
  error.median = middle(ratios, 0.5);
  error.p90 = middle(ratios, 0.9);
  return error;
}

}  // namespace

HeldOutPredictions predict_rows_by_cross_validation(std::span<const OperatorFitRow> rows,
                                                    const FitSetting& setting) {
  HeldOutPredictions out;
  for (std::vector<double>* predicted : {&out.law, &out.trees, &out.law_times_trees}) {
    predicted->resize(rows.size());
  }
  const std::vector<std::size_t> folds = folds_of(rows);
  for (std::size_t fold = 0; fold < kFolds; ++fold) hold_out_fold(rows, folds, fold, setting, out);
  return out;
}

std::vector<OperatorLawFitRow> law_rows(std::span<const OperatorFitRow> rows) {
  std::vector<OperatorLawFitRow> out;
  for (const OperatorFitRow& row : rows) out.push_back({row.work, row.seconds});
  return out;
}

std::vector<BoostedTreeFitRow> boosted_tree_rows(std::span<const OperatorFitRow> rows,
                                                 const cost::OperatorClassFit& entry,
                                                 const FitSetting& setting) {
  std::vector<BoostedTreeFitRow> out;
  for (const OperatorFitRow& row : rows) {
    double target = row.seconds;
    if (entry.kind == cost::FitModelKind::kLawTimesTrees)
      target /= seconds_by_fitted_law(entry.law, row, setting);
    // Rounded to steps coarser than the differences between mathematical libraries, so that trees
    // are equal everywhere.
    constexpr double kGrain = 8192;
    const double log = std::round(kGrain * std::log(target)) / kGrain;
    out.push_back({row.inputs, static_cast<float>(log)});
  }
  return out;
}

void fit_operator_boosted_trees(cost::OperatorClassFit& entry, std::span<const OperatorFitRow> rows,
                                const FitSetting& setting) {
  entry.trees = fit_boosted_trees(boosted_tree_rows(rows, entry, setting));
  entry.lowest_log = std::numeric_limits<double>::infinity();
  entry.highest_log = -entry.lowest_log;
  for (const OperatorFitRow& row : rows) {
    const double log = entry.trees.predict_from_features(row.inputs.all());
    entry.lowest_log = std::min(entry.lowest_log, log);
    entry.highest_log = std::max(entry.highest_log, log);
  }
}

double seconds_by_fitted_law(const cost::OperatorTimeLawConstants& law, const OperatorFitRow& row,
                             const FitSetting& setting) {
  const std::array<double, 2> seconds = cost::fitted_law_seconds(law, row.work, setting.peaks);
  return seconds[0] + seconds[1];
}

OperatorFitErrors prediction_error_summary(std::span<const OperatorFitRow> rows,
                                           std::span<const double> predicted_s) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ratios.push_back(predicted_s[i] / rows[i].seconds - 1);
  }
  return fit_error(std::move(ratios));
}

OperatorFitErrors unfitted_error(std::span<const OperatorFitRow> rows) {
  std::vector<double> ratios;
  for (const OperatorFitRow& row : rows) ratios.push_back(row.unfitted_s / row.seconds - 1);
  return fit_error(std::move(ratios));
}

std::map<std::string, OperatorFitErrors> errors_by_series(std::span<const OperatorFitRow> rows,
                                                          std::span<const double> predicted_s) {
  std::map<std::string, std::vector<double>> ratios;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ratios[rows[i].sample->name].push_back(predicted_s[i] / rows[i].seconds - 1);
  }
  std::map<std::string, OperatorFitErrors> out;
  for (auto& [name, values] : ratios) out[name] = fit_error(std::move(values));
  return out;
}

std::vector<cost::FittedSizeRange> fitted_quantity_ranges(std::span<const OperatorFitRow> rows,
                                                          cost::OperatorClass what) {
  std::vector<cost::FittedSizeRange> range;
  for (const OperatorFitRow& row : rows)
    cost::widen_fitted_ranges(range, cost::quantities(what, row.sample->op).all());
  return range;
}

}  // namespace stepwright::fit
