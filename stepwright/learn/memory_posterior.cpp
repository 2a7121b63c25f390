#include "stepwright/learn/memory_posterior.h"

#include <cmath>
#include <numeric>

#include "stepwright/core/normal.h"

namespace stepwright::learn {
namespace {

/// Points at which the common part is evaluated, up to four deviations in either direction.
constexpr int kPoints = 81;
constexpr double kFarthest = 4;
/// Shares of the capacity between which `predicted_peak_share_at_probability` searches.
constexpr double kLeastShare = 0.05;
constexpr double kMostShare = 4;
constexpr int kBisections = 60;

}  // namespace

MemoryErrorPosterior::MemoryErrorPosterior(const memory::MemoryErrorModel& error_model) {
  const double half = error_model.deviation / std::sqrt(2);
  for (int i = 0; i < kPoints; ++i) {
    const double z = kFarthest * (2.0 * i / (kPoints - 1) - 1);
    cases_.push_back({.mean = error_model.mean + half * z, .deviation = half});
    weights_.push_back(normal_density(z));
  }
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (double& weight : weights_) weight /= sum;
}

void MemoryErrorPosterior::update_from_memory_outcome(double share, bool fitted) {
  double sum = 0;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const double fits = stepwright::memory::memory_fit_probability(share, cases_[i]);
    weights_[i] *= fitted ? fits : 1 - fits;
    sum += weights_[i];
  }
  for (double& weight : weights_) weight /= sum;
}

double MemoryErrorPosterior::memory_fit_probability(double share) const {
  double sum = 0;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    sum += weights_[i] * stepwright::memory::memory_fit_probability(share, cases_[i]);
  }
  return sum;
}

double MemoryErrorPosterior::predicted_peak_share_at_probability(double probability) const {
  double low = kLeastShare;
  double high = kMostShare;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = 0.5 * (low + high);
    (memory_fit_probability(middle) >= probability ? low : high) = middle;
  }
  return low;
}

}  // namespace stepwright::learn
