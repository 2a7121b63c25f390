#include "stepwright/whole_run/slowest.h"

#include <cmath>
#include <numbers>

namespace stepwright {
namespace {

/// Probability that none of the draws is above x.
double none_above(double x, double draws) {
  const double above = std::erfc(x / std::numbers::sqrt2) / 2;
  return std::exp(draws * std::log1p(-above));
}

}  // namespace

double expected_largest(std::int64_t draws) {
  if (draws == 1) return 0;
  constexpr double kEnd = 12;
  constexpr int kParts = 4800;
  constexpr double kWidth = 2 * kEnd / kParts;
  const auto number = static_cast<double>(draws);
  // The integral of P(largest > x) - [x < 0] by the trapezoid rule, which is exact here to more
  // digits than a double has: the integrand is smooth but for one step, which lies on a point.
  double sum = 0;
  for (int i = 0; i <= kParts; ++i) {
    const double x = -kEnd + i * kWidth;
    const double step = x < 0 ? 1 : (2 * i == kParts ? 0.5 : 0);
    sum += 1 - none_above(x, number) - step;
  }
  return sum * kWidth;
}

}  // namespace stepwright
