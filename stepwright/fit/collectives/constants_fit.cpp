#include "stepwright/fit/collectives/constants_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace stepwright::fit {
namespace {

/// Relative deviation above which rows count less than by their square.
constexpr double kNoise = 0.03;
/// A constant that is one spread off its prior counts as a row with this error.
constexpr double kPriorWeight = 0.05;
constexpr int kRounds = 8;
constexpr int kSteps = 15;
constexpr int kParameters = 18;

using Vector = Eigen::Matrix<double, kParameters, 1>;
using Matrix = Eigen::Matrix<double, kParameters, kParameters>;

/// A constant as a parameter of the fit: its logarithm, or its value.
struct Parameter {
  double spread;     ///< Spread of the prior of the parameter.
  double low, high;  ///< Bounds of the constant.
  bool logarithmic = true;
  bool inside = true;  ///< True if samples inside a node determine it.
};

constexpr Parameter kStart{.spread = 0.7, .low = 0.1, .high = 2000};
constexpr Parameter kHop{.spread = 0.8, .low = 1e-3, .high = 40};
constexpr Parameter kNetworkHop{.spread = 0.8, .low = 0.02, .high = 100, .inside = false};
constexpr Parameter kRate{.spread = 0.7, .low = 2e-3, .high = 1};
constexpr Parameter kNetworkShare{.spread = 0.4, .low = 0.01, .high = 1, .inside = false};
constexpr std::array<Parameter, kParameters> kTable = {
    kStart,
    kStart,
    kStart,
    kHop,
    kHop,
    kHop,
    kNetworkHop,
    kNetworkHop,
    kNetworkHop,
    {.spread = 0.3, .low = 0.01, .high = 1},  // inside share
    kRate,
    kRate,  // rate of a protocol, over the next protocol's
    {.spread = 0.07, .low = 0, .high = 0.85, .logarithmic = false},  // few ranks
    {.spread = 0.5, .low = 0.2, .high = 8},                          // fill
    kNetworkShare,                                                   // network share on rings
    // network share on trees, over that on rings
    {.spread = 0.3, .low = 0.1, .high = 3, .inside = false},
    {.spread = 0.2, .low = 0.05, .high = 1},                                      // switch share
    {.spread = 0.1, .low = 0, .high = 1, .logarithmic = false, .inside = false},  // crowding
};

Vector to_vector(const cost::CollectiveOperationConstants& constants) {
  Vector x;
  for (int i = 0; i < cost::kProtocols; ++i) {
    x[i] = constants.protocols[i].start_us;
    x[3 + i] = constants.protocols[i].hop;
    x[6 + i] = constants.protocols[i].network_hop;
  }
  x[9] = constants.inside_share;
  x[10] = constants.protocols[1].rate;
  x[11] = constants.protocols[0].rate / constants.protocols[1].rate;
  x[12] = constants.few_ranks;
  x[13] = constants.fill;
  x[14] = constants.network_share;
  x[15] = constants.tree_share / constants.network_share;
  x[17] = constants.congestion;
  x[16] = constants.switch_share > 0 ? constants.switch_share : kTable[16].low;
  for (int i = 0; i < kParameters; ++i) {
    x[i] = std::clamp(x[i], kTable[i].low, kTable[i].high);
    if (kTable[i].logarithmic) x[i] = std::log(x[i]);
  }
  return x;
}

cost::CollectiveOperationConstants to_constants(Vector x,
                                                const cost::CollectiveOperationConstants& pattern) {
  for (int i = 0; i < kParameters; ++i) {
    if (kTable[i].logarithmic) x[i] = std::exp(x[i]);
  }
  // keeps the selection factors, and whether there is a switch
  cost::CollectiveOperationConstants constants = pattern;
  for (int i = 0; i < cost::kProtocols; ++i) {
    constants.protocols[i].start_us = x[i];
    constants.protocols[i].hop = x[3 + i];
    constants.protocols[i].network_hop = x[6 + i];
  }
  constants.inside_share = x[9];
  constants.protocols[1].rate = x[10];
  constants.protocols[0].rate = x[10] * x[11];
  constants.few_ranks = x[12];
  constants.fill = x[13];
  constants.network_share = x[14];
  constants.tree_share = std::min(1.0, x[14] * x[15]);
  if (pattern.switch_share > 0) constants.switch_share = x[16];
  constants.congestion = x[17];
  return constants;
}

Vector clamped(Vector x) {
  for (int i = 0; i < kParameters; ++i) {
    const bool log = kTable[i].logarithmic;
    x[i] = std::clamp(x[i], log ? std::log(kTable[i].low) : kTable[i].low,
                      log ? std::log(kTable[i].high) : kTable[i].high);
  }
  return x;
}

/// Returns a smooth loss: quadratic within the noise, linear beyond.
double robust_loss(double deviation) {
  const double x = deviation / kNoise;
  return std::sqrt(1 + x * x) - 1;
}

using Choices = std::vector<cost::CollectiveProtocol>;

/// The fit of one operation.
class Fit {
 public:
  Fit(std::span<const TimedCollectiveRoutes> samples,
      const cost::CollectiveOperationConstants& start, CollectiveConstantLimits looseness)
      : samples_(samples), start_(start), prior_(to_vector(start)) {
    for (int i = 0; i < kParameters; ++i) {
      const double spread = kTable[i].spread * (kTable[i].inside ? looseness.inside : 1);
      pull_[i] = kPriorWeight / kNoise / spread;
    }
    pull_ = pull_.array().square();
  }

  /// Fits from a first guess of the protocols.
  void run(Choices choices) {
    cost::CollectiveOperationConstants constants = start_;
    double last = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
      constants = descend(constants, choices);
      const double cost = believe(constants, choices);
      if (cost < best_cost_) {
        best_cost_ = cost;
        best_ = constants;
      }
      if (last - cost < 1e-3) break;
      last = cost;
    }
  }

  /// Returns the protocol of each sample that the library would choose with the start constants.
  [[nodiscard]] Choices believed() const {
    Choices choices;
    for (const TimedCollectiveRoutes& sample : samples_) {
      choices.push_back(pick(logs(sample, start_), selections(start_)));
    }
    return choices;
  }

  /// Returns protocols that change at two buffer sizes, given as seconds at line rate.
  [[nodiscard]] Choices split(double low_s, double high_s) const {
    Choices choices;
    for (const TimedCollectiveRoutes& sample : samples_) {
      const double at = std::max(sample.routes.ring.inside_s, sample.routes.ring.network_s);
      choices.push_back(at < low_s    ? cost::CollectiveProtocol::kLowLatency
                        : at < high_s ? cost::CollectiveProtocol::kLowLatency128
                                      : cost::CollectiveProtocol::kFull);
    }
    return choices;
  }

  [[nodiscard]] const cost::CollectiveOperationConstants& best() const { return best_; }

 private:
  using Logs = std::array<double, cost::kProtocols>;

  static Logs logs(const TimedCollectiveRoutes& sample,
                   const cost::CollectiveOperationConstants& constants) {
    Logs result{};
    for (int i = 0; i < cost::kProtocols; ++i) {
      result[i] = std::log(cost::message_seconds_by_protocol(
          sample.routes, constants, static_cast<cost::CollectiveProtocol>(i)));
    }
    return result;
  }

  static Logs selections(const cost::CollectiveOperationConstants& constants) {
    Logs result{};
    for (int i = 0; i < cost::kProtocols; ++i)
      result[i] = std::log(constants.protocols[i].selection);
    return result;
  }

  static cost::CollectiveProtocol pick(const Logs& seconds, const Logs& selection) {
    int least = 0;
    for (int i = 1; i < cost::kProtocols; ++i) {
      if (seconds[i] + selection[i] <= seconds[least] + selection[least]) least = i;
    }
    return static_cast<cost::CollectiveProtocol>(least);
  }

  [[nodiscard]] double prior_cost(const Vector& x) const {
    return 0.5 * (x - prior_).cwiseAbs2().dot(pull_);
  }

  [[nodiscard]] Eigen::VectorXd deviations(const Vector& x, const Choices& choices) const {
    const cost::CollectiveOperationConstants constants = to_constants(x, start_);
    Eigen::VectorXd result(samples_.size());
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      result[static_cast<Eigen::Index>(i)] =
          std::log(cost::message_seconds_by_protocol(samples_[i].routes, constants, choices[i]) /
                   samples_[i].seconds);
    }
    return result;
  }

  [[nodiscard]] double cost(const Vector& x, const Choices& choices) const {
    return deviations(x, choices).unaryExpr(&robust_loss).sum() + prior_cost(x);
  }

  /// Returns the constants fitted by Levenberg-Marquardt on reweighted squares.
  [[nodiscard]] cost::CollectiveOperationConstants descend(
      const cost::CollectiveOperationConstants& from, const Choices& choices) const {
    Vector x = to_vector(from);
    double now = cost(x, choices);
    double damping = 1e-2;
    for (int step = 0; step < kSteps; ++step) {
      const auto [curvature, slope] = normal_equations(x, choices);
      bool better = false;
      for (int attempt = 0; attempt < 6 && !better; ++attempt, damping *= 5) {
        Matrix damped = curvature;
        damped.diagonal() *= 1 + damping;
        const Vector next = clamped(x - damped.ldlt().solve(slope));
        const double then = cost(next, choices);
        better = then < now;
        if (!better) continue;
        const bool close = now - then < 1e-6 * now;
        x = next;
        now = then;
        damping /= 50;
        if (close) return to_constants(x, from);
      }
      if (!better) break;
    }
    return to_constants(x, from);
  }

  [[nodiscard]] std::pair<Matrix, Vector> normal_equations(const Vector& x,
                                                           const Choices& choices) const {
    constexpr double kShift = 1e-5;
    const Eigen::VectorXd at = deviations(x, choices);
    Eigen::MatrixXd jacobian(at.size(), kParameters);
    for (int i = 0; i < kParameters; ++i) {
      Vector beside = x;
      beside[i] += kShift;
      jacobian.col(i) = (deviations(beside, choices) - at) / kShift;
    }
    const Eigen::VectorXd weights =
        (1 + (at / kNoise).array().square()).sqrt().inverse() / (kNoise * kNoise);
    Matrix curvature = jacobian.transpose() * weights.asDiagonal() * jacobian;
    curvature.diagonal() += pull_;
    const Vector slope = jacobian.transpose() * (weights.array() * at.array()).matrix() +
                         (pull_.array() * (x - prior_).array()).matrix();
    return {curvature, slope};
  }

  /// Sets the selection factors that explain the samples best, and the protocols chosen with them.
  /// Returns the cost.
  double believe(cost::CollectiveOperationConstants& constants, Choices& choices) const {
    std::vector<Logs> seconds;
    for (const TimedCollectiveRoutes& sample : samples_) seconds.push_back(logs(sample, constants));
    constexpr double kGrain = 0.1;
    constexpr int kMost = 12;
    double least = std::numeric_limits<double>::infinity();
    Logs chosen{};
    for (int i = 0; i <= kMost; ++i) {
      for (int j = i; j <= kMost + i; ++j) {
        const Logs selection = {0, -kGrain * i, -kGrain * j};
        double sum = 0.2 * kGrain * j;  // the fastest protocol unless samples say otherwise
        for (std::size_t k = 0; k < samples_.size(); ++k) {
          const auto by = static_cast<std::size_t>(pick(seconds[k], selection));
          sum += robust_loss(seconds[k][by] - std::log(samples_[k].seconds));
        }
        if (sum >= least) continue;
        least = sum;
        chosen = selection;
      }
    }
    for (int i = 0; i < cost::kProtocols; ++i)
      constants.protocols[i].selection = std::exp(chosen[i]);
    for (std::size_t k = 0; k < samples_.size(); ++k) choices[k] = pick(seconds[k], chosen);
    return least + prior_cost(to_vector(constants));
  }

  std::span<const TimedCollectiveRoutes> samples_;
  cost::CollectiveOperationConstants start_;
  Vector prior_;
  Vector pull_;  ///< Squared weight of the prior on each parameter.
  cost::CollectiveOperationConstants best_ = start_;
  double best_cost_ = std::numeric_limits<double>::infinity();
};

}  // namespace

cost::CollectiveOperationConstants fit_collective_constants(
    std::span<const TimedCollectiveRoutes> samples, const cost::CollectiveOperationConstants& start,
    CollectiveConstantLimits looseness) {
  if (samples.empty()) return start;
  Fit fit(samples, start, looseness);
  fit.run(fit.believed());
  constexpr double kMicro = 1e-6;
  for (const auto& [low, high] :
       {std::pair{0.05, 3.0}, std::pair{0.15, 12.0}, std::pair{0.5, 3.0}, std::pair{0.5, 30.0}}) {
    fit.run(fit.split(low * kMicro, high * kMicro));
  }
  return fit.best();
}

}  // namespace stepwright::fit
