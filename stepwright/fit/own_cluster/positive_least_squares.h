#pragma once

#include <span>
#include <vector>

namespace stepwright {

/// One measured number and what it is made of: seconds = sum of part[i] * unknown[i].
struct LinearRow {
  std::vector<double> parts;
  double seconds = 0;
};

/// Unknowns, none below 0, that make relative errors small: least squares of predicted / measured,
/// in which rows that are far off count less (Huber beyond 5 %). All rows have as many parts.
std::vector<double> fit_positive(std::span<const LinearRow> rows);

/// The sum of a row's parts.
double predicted_s(const LinearRow& row, std::span<const double> unknowns);

}  // namespace stepwright
