#include "stepwright/validate/error_table.h"

#include <algorithm>
#include <cmath>

namespace stepwright::validate {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

ErrorStatistics error_statistics(std::span<const double> errors) {
  ErrorStatistics result;
  result.used = errors.size();
  if (errors.empty()) return result;
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    result.mean_abs += sizes.back();
    result.mean_signed += error;
    if (sizes.back() <= 0.10) result.within_10_percent += 1;
  }
  const auto count = static_cast<double>(errors.size());
  result.mean_abs /= count;
  result.mean_signed /= count;
  result.within_10_percent /= count;
  std::ranges::sort(sizes);
  result.median_abs = median(sizes);
  result.p90_abs = sizes[static_cast<std::size_t>(std::ceil(0.9 * count)) - 1];
  return result;
}

void ErrorGroup::add(std::size_t row, double error) {
  if (errors_.empty() || row != last_) ++rows_;
  last_ = row;
  errors_.push_back(error);
}

ErrorStatistics ErrorGroup::error_statistics_of_group() const {
  ErrorStatistics result = error_statistics(errors_);
  result.used = rows_;
  return result;
}

}  // namespace stepwright::validate
