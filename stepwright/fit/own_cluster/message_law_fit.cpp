#include "stepwright/fit/own_cluster/message_law_fit.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "stepwright/fit/least_squares.h"

namespace stepwright::fit {
namespace {

/// Errors (of logarithms) beyond this count by their size instead of its square.
constexpr double kNear = 0.02;
/// How far the logarithm of a constant may move from the fastest value that samples allow.
constexpr double kFarthest = 12;
/// How many times its start the shortest message may take.
constexpr double kFewOfIt = 10;
/// Errors beyond this count as this much.
constexpr double kWrong = 0.5;
/// A sample whose ratio to the law is beyond this, in either direction, counts as a disturbance.
constexpr double kMostMissed = 1.5;

double time_s(const cost::GlooCostLaw& law, const OwnCollectiveSample& sample) {
  return law.time(cost::socket_loads(sample.operation, sample.payload_bytes, sample.group)).seconds;
}

double time_s(const cost::ScheduledCollectiveLaw& law, const OwnCollectiveSample& sample) {
  return law
      .collective_time_by_schedule(*sample.method, sample.operation, sample.payload_bytes,
                                   sample.group)
      .seconds;
}

void lower(double& least, double seconds, double amount) {
  if (amount > 0) least = std::min(least, seconds / amount);
}

template <class Law, std::size_t kCount>
void drop_endless(Law& law, double Law::* const (&constants)[kCount]) {
  for (const auto constant : constants) {
    if (!std::isfinite(law.*constant)) law.*constant = 0;
  }
}

constexpr double cost::GlooCostLaw::* kSocketConstants[] = {
    &cost::GlooCostLaw::start_s, &cost::GlooCostLaw::hop_s, &cost::GlooCostLaw::network_hop_s,
    &cost::GlooCostLaw::inside_s_per_byte, &cost::GlooCostLaw::network_s_per_byte};

constexpr double cost::GlooCostLaw::* kSocketRates[] = {&cost::GlooCostLaw::inside_s_per_byte,
                                                        &cost::GlooCostLaw::network_s_per_byte};

constexpr double cost::ScheduledCollectiveLaw::* kScheduleConstants[] = {
    &cost::ScheduledCollectiveLaw::start_s, &cost::ScheduledCollectiveLaw::message_s,
    &cost::ScheduledCollectiveLaw::network_hop_s, &cost::ScheduledCollectiveLaw::inside_s_per_byte,
    &cost::ScheduledCollectiveLaw::network_s_per_byte};

/// Returns the law that no message of the samples beats; its start is a part of the shortest
/// message.
cost::GlooCostLaw fastest_gloo(const std::vector<OwnCollectiveSample>& samples, bool own_nics) {
  cost::GlooCostLaw law{.own_nics = own_nics};
  for (const auto constant : kSocketConstants) law.*constant = INFINITY;
  for (const OwnCollectiveSample& sample : samples) {
    const cost::GlooMessageLoads loads =
        cost::socket_loads(sample.operation, sample.payload_bytes, sample.group);
    lower(law.start_s, sample.seconds, kFewOfIt);
    lower(loads.network_messages > 0 ? law.network_hop_s : law.hop_s, sample.seconds, loads.hops);
    lower(law.inside_s_per_byte, sample.seconds, loads.inside_bytes());
    lower(law.network_s_per_byte, sample.seconds,
          loads.network_bytes() / (own_nics ? loads.network_senders : 1));
  }
  drop_endless(law, kSocketConstants);
  return law;
}

bool of_one_group(const std::vector<OwnCollectiveSample>& samples) {
  return std::ranges::all_of(
      samples, [&](const auto& sample) { return sample.group == samples.front().group; });
}

/// Returns the law that no schedule of the samples beats: at least one message for each rank inside
/// and for each node outside.
cost::ScheduledCollectiveLaw fastest_collective_schedule(
    const std::vector<OwnCollectiveSample>& samples, bool own_nics) {
  cost::ScheduledCollectiveLaw law{.chunk_bytes = samples.front().chunk_bytes,
                                   .own_nics = own_nics};
  for (const auto constant : kScheduleConstants) law.*constant = INFINITY;
  for (const OwnCollectiveSample& sample : samples) {
    const auto nodes = static_cast<double>(sample.group.nodes);
    const auto members = static_cast<double>(sample.group.members);
    const double passes = sample.operation == collective::CollectiveOperation::kAllReduce ? 2 : 1;
    const double sent = passes * sample.payload_bytes * static_cast<double>(sample.group.groups);
    lower(law.start_s, sample.seconds, kFewOfIt);
    lower(law.message_s, sample.seconds, passes * nodes * members);
    lower(law.network_hop_s, sample.seconds, passes * nodes);
    lower(law.inside_s_per_byte, sample.seconds, sent * (members - 1));
    lower(law.network_s_per_byte, sample.seconds,
          sent * (1 - 1 / nodes) / (own_nics ? members : 1));
  }
  drop_endless(law, kScheduleConstants);
  return law;
}

/// Returns the sum of the samples' errors, each capped at `most`.
template <class Law>
double error_of(const Law& law, const std::vector<OwnCollectiveSample>& samples, double most) {
  double sum = 0;
  for (const OwnCollectiveSample& sample : samples) {
    sum += std::min(most, std::fabs(std::log(time_s(law, sample) / sample.seconds)));
  }
  return sum;
}

/// Moves the non-zero constants of a law to the least error; errors beyond kNear count by their
/// size, up to `most`.
template <class Law, std::size_t kCount>
void improve(Law& law, double Law::* const (&constants)[kCount],
             const std::vector<OwnCollectiveSample>& samples, double most) {
  std::vector<double Law::*> shown;
  std::ranges::copy_if(constants, std::back_inserter(shown),
                       [&law](const auto constant) { return law.*constant > 0; });
  const auto with = [&law, &shown](const Eigen::VectorXd& logs) {
    Law moved = law;
    for (Eigen::Index i = 0; i < logs.size(); ++i) {
      moved.*shown[static_cast<std::size_t>(i)] *= std::exp(logs[i]);
    }
    return moved;
  };
  const auto count = std::ssize(shown);
  const LeastSquaresProblem squares{
      .residuals =
          [&](const Eigen::VectorXd& logs) {
            const Law moved = with(logs);
            Eigen::VectorXd errors(std::ssize(samples));
            for (Eigen::Index i = 0; i < errors.size(); ++i) {
              const OwnCollectiveSample& sample = samples[static_cast<std::size_t>(i)];
              const double error = std::log(time_s(moved, sample) / sample.seconds);
              errors[i] = soft_l1_residual(std::clamp(error, -most, most) / kNear);
            }
            return errors;
          },
      .least = Eigen::VectorXd::Constant(count, -kFarthest),
      .most = Eigen::VectorXd::Constant(count, kFarthest)};
  law = with(solve_least_squares(squares, Eigen::VectorXd::Zero(count)));
}

/// Improves a law in two rounds; in the first all errors count in full, since otherwise a start
/// that is far off would not be left.
template <class Law, std::size_t kCount>
void improve(Law& law, double Law::* const (&constants)[kCount],
             const std::vector<OwnCollectiveSample>& samples) {
  improve(law, constants, samples, INFINITY);
  improve(law, constants, samples, kWrong);
}

/// Returns the ratios of measured times to a law, for each shape of groups in the order of the
/// samples.
template <class Law>
std::vector<cost::TimeRatioCurve> missed(const Law& law,
                                         const std::vector<OwnCollectiveSample>& samples) {
  std::vector<cost::TimeRatioCurve> curves;
  for (const OwnCollectiveSample& sample : samples) {
    auto curve = std::ranges::find(curves, sample.group, &cost::TimeRatioCurve::group);
    if (curve == curves.end()) curve = curves.insert(curve, {.group = sample.group, .factors = {}});
    const double factor = sample.seconds / time_s(law, sample);
    curve->factors.emplace_back(sample.payload_bytes,
                                std::clamp(factor, 1 / kMostMissed, kMostMissed));
  }
  for (cost::TimeRatioCurve& curve : curves) {
    std::ranges::sort(curve.factors);
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    curve.factors.erase(std::unique(curve.factors.begin(), curve.factors.end(), same),
                        curve.factors.end());
  }
  return curves;
}

template <class Law>
double sampled_s(const cost::SampledLaw<Law>& law, const OwnCollectiveSample& sample) {
  return time_s(law.law, sample) *
         cost::measured_time_factor(law.curves, sample.group, sample.payload_bytes);
}

/// Fits with NICs for nodes and for ranks, and returns the better fit.
template <class Fit>
auto better(Fit fit, const std::vector<OwnCollectiveSample>& samples) {
  const auto shared = fit(false);
  const auto own = fit(true);
  return error_of(own, samples, kWrong) < error_of(shared, samples, kWrong) ? own : shared;
}

}  // namespace

cost::SampledLaw<cost::GlooCostLaw> fit_gloo_message_law(
    const std::vector<OwnCollectiveSample>& samples) {
  const cost::GlooCostLaw law = better(
      [&](bool own_nics) {
        cost::GlooCostLaw made = fastest_gloo(samples, own_nics);
        improve(made, kSocketConstants, samples);
        return made;
      },
      samples);
  return {law, missed(law, samples)};
}

std::map<collective::CollectiveOperation, cost::SampledLaw<cost::GlooCostLaw>>
fit_gloo_operation_laws(const std::vector<OwnCollectiveSample>& samples) {
  const cost::GlooCostLaw law = better(
      [&](bool own_nics) {
        cost::GlooCostLaw made = fastest_gloo(samples, own_nics);
        if (of_one_group(samples)) made.hop_s = made.network_hop_s = 0;
        improve(made, kSocketConstants, samples);
        return made;
      },
      samples);
  std::map<collective::CollectiveOperation, cost::SampledLaw<cost::GlooCostLaw>> laws;
  for (const Named<collective::CollectiveOperation>& operation : cost::kCollectiveNames) {
    std::vector<OwnCollectiveSample> own;
    std::ranges::copy_if(samples, std::back_inserter(own),
                         [&](const auto& sample) { return sample.operation == operation.value; });
    cost::GlooCostLaw moved = law;
    const bool shows_rate = std::ranges::any_of(
        own, [&](const OwnCollectiveSample& sample) { return sample.seconds > 2 * law.start_s; });
    if (shows_rate) improve(moved, kSocketRates, own);
    laws[operation.value] = {moved, missed(moved, own)};
  }
  return laws;
}

cost::SampledLaw<cost::ScheduledCollectiveLaw> fit_schedule_message_law(
    const std::vector<OwnCollectiveSample>& samples) {
  const cost::ScheduledCollectiveLaw law = better(
      [&](bool own_nics) {
        cost::ScheduledCollectiveLaw made = fastest_collective_schedule(samples, own_nics);
        improve(made, kScheduleConstants, samples);
        return made;
      },
      samples);
  return {law, missed(law, samples)};
}

double predicted_s(const cost::SampledLaw<cost::GlooCostLaw>& law,
                   const OwnCollectiveSample& sample) {
  return sampled_s(law, sample);
}

double predicted_s(const cost::SampledLaw<cost::ScheduledCollectiveLaw>& law,
                   const OwnCollectiveSample& sample) {
  return sampled_s(law, sample);
}

}  // namespace stepwright::fit
