#include "stepwright/fit/measured_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "stepwright/fit/least_squares.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFifths = 5;
constexpr double kLeastGain = 1e-6;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double time_s(const SocketLaw& law, const MessageSample& sample) {
  return law.time(socket_loads(sample.operation, sample.payload_bytes, sample.group)).seconds;
}

double time_s(const ComputationLaw& law, const ComputationSample& sample) {
  return law.seconds(sample.flops, sample.bytes);
}

SocketLoads loads_of(const MessageSample& sample) {
  return socket_loads(sample.operation, sample.payload_bytes, sample.group);
}

/// How much longer than its start the shortest message may take.
constexpr double kFewOfIt = 10;

/// What no message of the samples beats; as a start, a part of the shortest one.
SocketLaw fastest(const std::vector<MessageSample>& samples) {
  SocketLaw law{.start_s = INFINITY,
                .hop_s = INFINITY,
                .network_hop_s = INFINITY,
                .inside_s_per_byte = INFINITY,
                .network_s_per_byte = INFINITY};
  const auto lower = [](double& least, double seconds, double amount) {
    if (amount > 0) least = std::min(least, seconds / amount);
  };
  for (const MessageSample& sample : samples) {
    const SocketLoads loads = loads_of(sample);
    lower(law.start_s, sample.seconds, kFewOfIt);
    lower(loads.network_messages > 0 ? law.network_hop_s : law.hop_s, sample.seconds, loads.hops);
    lower(law.inside_s_per_byte, sample.seconds, loads.inside_bytes());
    lower(law.network_s_per_byte, sample.seconds, loads.network_bytes());
  }
  for (double* each : {&law.start_s, &law.hop_s, &law.network_hop_s, &law.inside_s_per_byte,
                       &law.network_s_per_byte}) {
    if (!std::isfinite(*each)) *each = 0;
  }
  return law;
}

/// Errors beyond this count as if they were this large.
constexpr double kWrong = 0.5;

double error_of(const SocketLaw& law, const std::vector<MessageSample>& samples) {
  double sum = 0;
  for (const MessageSample& sample : samples) {
    sum += std::min(kWrong, std::fabs(std::log(time_s(law, sample) / sample.seconds)));
  }
  return sum;
}

constexpr double SocketLaw::* kConstants[] = {
    &SocketLaw::start_s, &SocketLaw::hop_s, &SocketLaw::network_hop_s,
    &SocketLaw::inside_s_per_byte, &SocketLaw::network_s_per_byte};

/// Multiplies a constant where that lowers the error; true then.
bool moved(SocketLaw& law, double SocketLaw::* constant, double by, double& least,
           const std::vector<MessageSample>& samples) {
  SocketLaw other = law;
  other.*constant *= by;
  const double error = error_of(other, samples);
  if (error >= least - kLeastGain) return false;
  least = error;
  law = other;
  return true;
}

/// Moves each constant by a factor, both ways, while that lowers the error; then by a smaller one.
SocketLaw fit_law(const std::vector<MessageSample>& samples) {
  constexpr double kFirst = 1.5;
  constexpr int kFactors = 9;  // each the root of the one before; the last is 1.0016
  SocketLaw law = fastest(samples);
  double least = error_of(law, samples);
  double factor = kFirst;
  for (int i = 0; i < kFactors; ++i, factor = std::sqrt(factor)) {
    bool better = true;
    while (better) {
      better = false;
      for (const auto constant : kConstants) {
        if (moved(law, constant, factor, least, samples)) better = true;
        if (moved(law, constant, 1 / factor, least, samples)) better = true;
      }
    }
  }
  return law;
}

ComputationLaw fit_law(const std::vector<ComputationSample>& samples) {
  std::vector<LinearRow> rows;
  for (const ComputationSample& sample : samples) {
    rows.push_back({{1, sample.flops, sample.bytes}, sample.seconds});
  }
  const std::vector<double> found = fit_positive(rows);
  return {.kind = samples.front().kind,
          .phase = samples.front().phase,
          .dtype = samples.front().dtype,
          .start_s = found[0],
          .s_per_flop = found[1],
          .s_per_byte = found[2]};
}

template <class Law, class Sample>
MeasuredLaw<Law> judged(const std::vector<Sample>& samples) {
  MeasuredLaw<Law> result{.law = fit_law(samples), .rows = samples.size()};
  std::vector<double> errors;
  for (std::size_t fold = 0; fold < kFifths; ++fold) {
    std::vector<Sample> seen;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i % kFifths != fold) seen.push_back(samples[i]);
    }
    if (seen.empty()) continue;
    const Law law = fit_law(seen);
    for (std::size_t i = fold; i < samples.size(); i += kFifths) {
      errors.push_back(std::fabs(time_s(law, samples[i]) / samples[i].seconds - 1));
    }
  }
  result.held_out_error = median(errors);
  return result;
}

/// The median of how much slower computation was; 0 without samples.
double slower_beside(const std::vector<OverlapSample>& samples, LinkClass link) {
  std::vector<double> factors;
  for (const OverlapSample& sample : samples) {
    if (sample.link == link) factors.push_back(sample.beside_s / sample.alone_s);
  }
  return factors.empty() ? 0 : std::max(1.0, median(factors));
}

template <class Law>
void add_record(Json& json, const MeasuredLaw<Law>& law) {
  json["rows"] = law.rows;
  json["held_out_error"] = std::round(1e4 * law.held_out_error) / 1e4;
}

}  // namespace

MeasuredFit fit_measured(const MeasuredSamples& samples) {
  MeasuredFit fit;
  std::map<Collective, std::vector<MessageSample>> messages;
  for (const MessageSample& sample : samples.messages) messages[sample.operation].push_back(sample);
  for (const auto& [operation, rows] : messages) {
    fit.messages[static_cast<std::size_t>(operation)] = judged<SocketLaw>(rows);
  }
  std::map<std::tuple<OperatorKind, Phase, DType>, std::vector<ComputationSample>> computations;
  for (const ComputationSample& sample : samples.computations) {
    computations[{sample.kind, sample.phase, sample.dtype}].push_back(sample);
  }
  for (const auto& [key, rows] : computations) {
    fit.computations.push_back(judged<ComputationLaw>(rows));
  }
  fit.overlap = {.beside_inside = slower_beside(samples.overlaps, LinkClass::kInside),
                 .beside_network = slower_beside(samples.overlaps, LinkClass::kNetwork)};
  return fit;
}

Json measured_json(const MeasuredFit& fit, const std::string& name,
                   const std::vector<std::string>& sources) {
  Json file = {{"stepwright", "measured/1"}, {"name", name}};
  Json operations = Json::object();
  for (const auto& [operation, word] : kCollectiveNames) {
    const auto& law = fit.messages[static_cast<std::size_t>(operation)];
    if (!law) continue;
    Json& entry = operations[std::string(word)] = socket_law_json(law->law);
    add_record(entry, *law);
  }
  if (!operations.empty()) {
    file["messages"] = {{"library", "gloo"}, {"operations", std::move(operations)}};
  }
  for (const auto& law : fit.computations) {
    Json entry = computation_law_json(law.law);
    add_record(entry, law);
    file["computations"].push_back(std::move(entry));
  }
  const auto& [inside, network] = fit.overlap;
  if (inside > 0) file["overlap"]["beside_inside"] = std::round(1e4 * inside) / 1e4;
  if (network > 0) file["overlap"]["beside_network"] = std::round(1e4 * network) / 1e4;
  file["sources"] = sources;
  return file;
}

}  // namespace stepwright
