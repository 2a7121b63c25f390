#include "stepwright/whole_run/spares.h"

#include <cmath>
#include <limits>
#include <vector>

namespace stepwright::whole_run {

namespace {

/// A smaller share of waiting does not change a time, and its terms underflow a double.
constexpr double kLeastShare = 1e-100;

/// Returns Erlang's loss formula for a number of places, from its value for one place less.
double next_share(double load, std::int64_t places, double share) {
  return load * share / (static_cast<double>(places) + load * share);
}

}  // namespace

double time_share_waiting_for_node_repairs(const TrainingNodePool& pool) {
  const double load = pool.failures_per_s * pool.repair_s;
  double share = 1;
  for (std::int64_t places = 1; places <= pool.spares + 1 && share > 0; ++places) {
    share = next_share(load, places, share);
  }
  return share;
}

std::int64_t cheapest_spare_node_count(const TrainingNodePool& pool, double nodes) {
  const double load = pool.failures_per_s * pool.repair_s;
  double share = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t spares = 0;; ++spares) {
    share = next_share(load, spares + 1, share);
    const double paid = (nodes + static_cast<double>(spares)) / (1 - share);
    if (paid >= least) return spares - 1;
    least = paid;
  }
}

double time_variance_of_node_repairs_s2(const TrainingNodePool& pool, double running_s,
                                        double lost_share) {
  const double share = time_share_waiting_for_node_repairs(pool);
  if (share < kLeastShare) return 0;
  const double rate = pool.failures_per_s;
  const double load = rate * pool.repair_s;
  // For each number of nodes out: the probability of at most that many, divided by that of exactly
  // that many.
  std::vector<double> at_most = {1};
  for (std::int64_t out = 1; out <= pool.spares; ++out) {
    at_most.push_back(1 + at_most.back() * static_cast<double>(out) / load);
  }
  double probability = share;  // Probability that all nodes that may be out are out.
  double sum = 0;
  double squares = 0;
  for (std::int64_t out = pool.spares; out >= 0; --out) {
    probability *= static_cast<double>(out + 1) / load;
    const double ratio = at_most[static_cast<std::size_t>(out)];
    sum += ratio * probability;
    squares += ratio * ratio * probability;
  }
  // Mean time that a failure costs, repeated failures included.
  const double lost_s = lost_share / (1 - lost_share) / rate;
  return running_s / std::pow(1 - share, 3) *
         (2 * lost_s * share * sum + 2 * share * share * squares / rate);
}

}  // namespace stepwright::whole_run
