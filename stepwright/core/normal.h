#pragma once

namespace stepwright {

/// Returns P(z < x) of the standard normal distribution, with a relative error below 1e-15 (1 +
/// x^2). The result has the same bits on every processor, because only sums, products and quotients
/// are used.
double normal_cdf(double x);

/// Returns the density of the standard normal distribution at x. The result has the same bits on
/// every processor.
double normal_density(double x);

/// Returns the quantile of the standard normal distribution: the x with `normal_cdf(x) ==
/// probability`, for 0 < probability < 1.
double normal_quantile(double probability);

}  // namespace stepwright
