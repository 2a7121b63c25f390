#include "stepwright/whole_run/renewal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepwright::whole_run {
namespace {

/// Below this value, the leading term of the series is more exact than a difference of
/// exponentials.
constexpr double kSmall = 1e-4;

/// Mean and variance of the time until machines run for a given time without a failure, counted
/// from a failure on.
struct Attempts {
  double mean_s = 0;
  double variance_s2 = 0;
};

Attempts attempts_of(double rate, double length_s) {
  const double y = rate * length_s;
  const double variance = y < kSmall ? y * y * y / 3 : std::expm1(2 * y) - 2 * y * std::exp(y);
  return {.mean_s = std::expm1(y) / rate, .variance_s2 = variance / (rate * rate)};
}

/// First and second moment of the time until a failure, counted only if it comes before a given
/// end.
struct EarlyFailure {
  double first = 0;
  double second = 0;
};

EarlyFailure early_failure(double rate, double end_s) {
  const double y = rate * end_s;
  if (y < kSmall) return {.first = y * end_s / 2, .second = y * end_s * end_s / 3};
  const double none = std::exp(-y);
  return {.first = (1 - none * (1 + y)) / rate,
          .second = (2 - none * (2 + 2 * y + y * y)) / (rate * rate)};
}

SaveCycleTime cycle_of(const RenewalProcess& renewal, double failure_free_s, double attempt_s) {
  const double rate = renewal.failures_per_s;
  if (rate == 0) return {.failure_free_s = failure_free_s, .mean_s = failure_free_s};
  const double fails = -std::expm1(-rate * failure_free_s);
  const Attempts after = attempts_of(rate, attempt_s);
  const EarlyFailure early = early_failure(rate, failure_free_s);
  const double mean = std::exp(rate * attempt_s) * fails / rate;
  const double second = (1 - fails) * failure_free_s * failure_free_s + early.second +
                        2 * early.first * after.mean_s +
                        fails * (after.variance_s2 + after.mean_s * after.mean_s);
  return {.failure_free_s = failure_free_s,
          .mean_s = mean,
          .variance_s2 = std::max(0.0, second - mean * mean)};
}

double alone_s(const RenewalProcess& renewal, double work_s) {
  return work_s + renewal.copy_s + renewal.write_s;
}

}  // namespace

SaveCycleTime time_between_saved_states(const RenewalProcess& renewal, double work_s) {
  const double planned = std::max(work_s, renewal.write_s) + renewal.copy_s;
  return cycle_of(renewal, planned, renewal.restart_s + alone_s(renewal, work_s));
}

SaveCycleTime first_save_cycle_time(const RenewalProcess& renewal, double work_s) {
  const double alone = alone_s(renewal, work_s);
  return cycle_of(renewal, alone, renewal.restart_s + alone);
}

double best_work_between_saves_s(const RenewalProcess& renewal) {
  const double rate = renewal.failures_per_s;
  if (rate == 0) return std::numeric_limits<double>::infinity();
  double low = 0;
  double high = 1;
  for (int i = 0; i < 100; ++i) {
    const double x = (low + high) / 2;
    const bool longer = std::log1p(-x) + x + rate * renewal.copy_s > 0;
    (longer ? low : high) = x;
  }
  return std::max(low / rate, renewal.write_s);
}

}  // namespace stepwright::whole_run
