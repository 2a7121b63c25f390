#include "stepwright/core/normal.h"

#include <cmath>

namespace stepwright {
namespace {

/// Exponents below this give e^x = 0.
constexpr double kLeastExponent = -745;
/// ln 2 as a sum, whose first part has so few bits that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
/// 1 / sqrt(2 pi).
constexpr double kDensityAtZero = 0x1.9884533d43651p-2;
/// Where the computation switches from the power series to the continued fraction.
constexpr double kTail = 1.5;
/// Terms of the series of e^x for |x| < ln 2 / 2: the next is below 1e-17.
constexpr int kTerms = 14;

/// e^x for x <= 0: x = k ln 2 + r, and the Taylor series of e^r.
double exponential(double x) {
  if (x < kLeastExponent) return 0;
  const double k = std::nearbyint(x * kInverseLn2);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1;
  for (int i = kTerms; i >= 1; --i) sum = 1 + sum * r / i;
  return std::ldexp(sum, static_cast<int>(k));
}

/// Returns P(z > x) for x >= kTail: density / (x + 1 / (x + 2 / (x + ...))), Laplace's continued
/// fraction, cut where the rest is below 1e-17.
double upper_tail(double x) {
  const int terms = 20 + static_cast<int>(400 / (x * x));
  double below = x;
  for (int i = terms; i >= 1; --i) below = x + i / below;
  return normal_density(x) / below;
}

/// Returns P(0 < z < x) divided by the density, for 0 <= x < kTail: x + x^3/3 + x^5/15 + ...
double series(double x) {
  double term = x;
  double sum = x;
  for (int i = 3;; i += 2) {
    term *= x * x / i;
    const double next = sum + term;
    if (next == sum) return sum;
    sum = next;
  }
}

}  // namespace

double normal_cdf(double x) {
  if (std::isnan(x)) return x;
  const double size = std::abs(x);
  if (size >= kTail) return x < 0 ? upper_tail(size) : 1 - upper_tail(size);
  const double half = normal_density(size) * series(size);
  return x < 0 ? 0.5 - half : 0.5 + half;
}

double normal_density(double x) { return kDensityAtZero * exponential(-0.5 * x * x); }

double normal_quantile(double probability) {
  // Bisection on `normal_cdf` itself, so that the result is exact to the last digits.
  double low = -40;
  double high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    (normal_cdf(middle) < probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace stepwright
