#include "stepwright/fit/own_cluster/cluster_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "stepwright/core/error.h"
#include "stepwright/fit/middle.h"
#include "stepwright/fit/own_cluster/computation_law_fit.h"
#include "stepwright/fit/own_cluster/message_law_fit.h"

namespace stepwright::fit {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFifths = 5;

/// Returns `fit` of all samples, with the error of fits to four fifths on the remaining fifth.
template <class Fit, class Sample>
auto judged(Fit fit, const std::vector<Sample>& samples) {
  FittedLaw<decltype(fit(samples))> result{.law = fit(samples), .rows = samples.size()};
  std::vector<double> errors;
  for (std::size_t fold = 0; fold < kFifths; ++fold) {
    std::vector<Sample> seen;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i % kFifths != fold) seen.push_back(samples[i]);
    }
    if (seen.empty()) continue;
    const auto law = fit(seen);
    for (std::size_t i = fold; i < samples.size(); i += kFifths) {
      errors.push_back(std::fabs(predicted_s(law, samples[i]) / samples[i].seconds - 1));
    }
  }
  result.held_out_error = upper_median(errors);
  return result;
}

/// Returns how much slower computation is beside a message, from a pair in which the message ends
/// first: together = message + computation - message / factor. Slow-down of the message by the
/// computation is included.
double slower_in(const OwnOverlapSample& pair) {
  const double saved_s = pair.computation_s + pair.message_s - pair.together_s;
  return saved_s <= pair.message_s / cost::kMaxMeasuredSlowdownFactor
             ? cost::kMaxMeasuredSlowdownFactor
             : pair.message_s / saved_s;
}

/// Returns the median slow-down over all pairs of a link; 0 without samples.
double slower_beside(const std::vector<OwnOverlapSample>& samples, cost::LinkClass link) {
  std::vector<double> factors;
  for (const OwnOverlapSample& sample : samples) {
    if (sample.link == link) factors.push_back(slower_in(sample));
  }
  return factors.empty() ? 0 : std::max(1.0, upper_median(factors));
}

}  // namespace

OwnClusterFit fit_own_cluster(const OwnClusterSamples& samples) {
  OwnClusterFit fit;
  std::map<
      std::pair<std::optional<collective::CollectiveAlgorithm>, collective::CollectiveOperation>,
      std::vector<OwnCollectiveSample>>
      messages;
  for (const OwnCollectiveSample& sample : samples.messages) {
    auto& rows = messages[{sample.method, sample.operation}];
    if (!rows.empty() && rows.front().chunk_bytes != sample.chunk_bytes) {
      fail_input(fmt::format(
          "{}:{}: chunk_bytes: {}, and {} in {}:{}; rows of one method and operation must have one",
          sample.file, sample.line, sample.chunk_bytes, rows.front().chunk_bytes, rows.front().file,
          rows.front().line));
    }
    rows.push_back(sample);
  }
  for (const auto& [key, rows] : messages) {
    const auto& [method, operation] = key;
    if (method) {
      fit.schedules[{*method, operation}] = judged(fit_schedule_message_law, rows);
    } else {
      fit.messages[operation] = judged(fit_gloo_message_law, rows);
    }
  }
  std::map<std::tuple<step::OperatorKind, step::Phase, DType>, std::vector<OwnComputationSample>>
      computations;
  for (const OwnComputationSample& sample : samples.computations) {
    computations[{sample.kind, sample.phase, sample.dtype}].push_back(sample);
  }
  for (const auto& [key, rows] : computations) {
    fit.computations.push_back(judged(fit_computation_time_law, rows));
  }
  fit.overlap = {.beside_inside = slower_beside(samples.overlaps, cost::LinkClass::kInside),
                 .beside_network = slower_beside(samples.overlaps, cost::LinkClass::kNetwork)};
  return fit;
}

Json measured_profile_json(const OwnClusterFit& fit, const std::string& name,
                           const std::vector<std::string>& sources) {
  Json file = {{"stepwright", "measured/1"}, {"name", name}};
  const auto add = [&file](const char* list, Json entry, const auto& law) {
    entry["rows"] = law.rows;
    if (law.held_out_error && std::isfinite(*law.held_out_error)) {
      entry["held_out_error"] = std::round(1e4 * *law.held_out_error) / 1e4;
    }
    file[list].push_back(std::move(entry));
  };
  for (const auto& [operation, law] : fit.messages) {
    add("messages", cost::message_law_json(operation, law.law), law);
  }
  for (const auto& [key, law] : fit.schedules) {
    add("messages", cost::message_law_json(key.first, key.second, law.law), law);
  }
  for (const auto& law : fit.host_overhead)
    add("handling", cost::host_overhead_law_json(law.law), law);
  for (const auto& law : fit.computations)
    add("computations", cost::computation_time_law_json(law.law), law);
  const auto& [inside, network] = fit.overlap;
  if (inside > 0) file["overlap"]["beside_inside"] = std::round(1e4 * inside) / 1e4;
  if (network > 0) file["overlap"]["beside_network"] = std::round(1e4 * network) / 1e4;
  file["sources"] = sources;
  return file;
}

}  // namespace stepwright::fit
