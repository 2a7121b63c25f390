#pragma once

namespace stepwright {

/// Returns P(z < x) of the standard normal distribution, with a relative error below 1e-15 (1 +
/// x^2). The bits are the same on every processor, because only sums, products and quotients are
/// used, no function of a mathematical library.
double normal_cdf(double x);

/// Returns the density of the standard normal distribution at x, with the same bits on every
/// processor.
double normal_density(double x);

/// Returns the x with `normal_cdf(x) == probability`, for 0 < probability < 1.
double normal_quantile(double probability);

}  // namespace stepwright
