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
constexpr int kLinkPasses = 20;

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

/// What no message of the samples beats.
SocketLaw fastest(const std::vector<MessageSample>& samples) {
  SocketLaw law{.hop_s = INFINITY,
                .network_hop_s = INFINITY,
                .inside_s_per_byte = INFINITY,
                .network_s_per_byte = INFINITY};
  const auto lower = [](double& least, double seconds, double amount) {
    if (amount > 0) least = std::min(least, seconds / amount);
  };
  for (const MessageSample& sample : samples) {
    const SocketLoads loads = loads_of(sample);
    lower(loads.network_messages > 0 ? law.network_hop_s : law.hop_s, sample.seconds, loads.hops);
    lower(law.inside_s_per_byte, sample.seconds, loads.inside_bytes());
    lower(law.network_s_per_byte, sample.seconds, loads.network_bytes());
  }
  for (double* each :
       {&law.hop_s, &law.network_hop_s, &law.inside_s_per_byte, &law.network_s_per_byte}) {
    if (!std::isfinite(*each)) *each = 0;
  }
  return law;
}

/// A sample as the sum of what sets its pace under a law.
LinearRow row_of(const MessageSample& sample, const SocketLaw& law) {
  const SocketLoads loads = loads_of(sample);
  const bool leaves = loads.network_messages > 0;
  const double blocks = loads.steps * loads.block_bytes;
  switch (law.pace(loads)) {
    case SocketPace::kInside: return {{1, 0, 0, loads.inside_bytes(), 0}, sample.seconds};
    case SocketPace::kNetwork: return {{1, 0, 0, 0, loads.network_bytes()}, sample.seconds};
    case SocketPace::kHops: break;
  }
  return {{1, leaves ? 0 : loads.hops, leaves ? loads.hops : 0, leaves ? 0 : blocks,
           leaves ? blocks : 0},
          sample.seconds};
}

double error_of(const SocketLaw& law, const std::vector<MessageSample>& samples) {
  double sum = 0;
  for (const MessageSample& sample : samples) {
    sum += std::fabs(std::log(time_s(law, sample) / sample.seconds));
  }
  return sum;
}

/// The best of some passes; in each a sample counts towards what set its pace in the one before.
SocketLaw fit_law(const std::vector<MessageSample>& samples) {
  SocketLaw law = fastest(samples);
  SocketLaw best = law;
  for (int pass = 0; pass < kLinkPasses; ++pass) {
    std::vector<LinearRow> rows;
    for (const MessageSample& sample : samples) rows.push_back(row_of(sample, law));
    const std::vector<double> found = fit_positive(rows);
    law = {.start_s = found[0],
           .hop_s = found[1],
           .network_hop_s = found[2],
           .inside_s_per_byte = found[3],
           .network_s_per_byte = found[4]};
    if (error_of(law, samples) < error_of(best, samples)) best = law;
  }
  return best;
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
