#include "stepwright/fit/collectives/machine_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "stepwright/fit/collectives/constants_fit.h"

namespace stepwright::fit {
namespace {

using Json = nlohmann::ordered_json;

/// Most rows of one operation and layout that a fit uses; more add nothing.
constexpr std::size_t kEnough = 400;

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(at));
  return values[at];
}

double default_ratio(const CollectiveSample& sample,
                     const cost::CollectiveOperationConstants& constants) {
  return sample.seconds / cost::message_seconds_by_algorithm(sample.routes, constants);
}

/// True if the quartiles of one layout's rows (measured over default) differ by more than is
/// possible for transfers of one speed.
bool contradictory(const std::vector<const CollectiveSample*>& rows) {
  if (rows.size() < 20) return false;
  const cost::CollectiveOperationConstants& constants =
      cost::default_collective_constants().of(rows.front()->operation);
  std::vector<double> ratios;
  for (const CollectiveSample* row : rows) {
    if (row->payload_bytes >= 64e6) ratios.push_back(default_ratio(*row, constants));
  }
  return ratios.size() >= 20 && quantile(ratios, 0.75) > 1.8 * quantile(ratios, 0.25);
}

using LayoutKey = std::tuple<collective::CollectiveOperation, std::string>;

std::map<LayoutKey, std::vector<const CollectiveSample*>> by_layout(
    const std::vector<const CollectiveSample*>& samples) {
  std::map<LayoutKey, std::vector<const CollectiveSample*>> layouts;
  for (const CollectiveSample* sample : samples) {
    layouts[{sample->operation, sample->nodes_by_ranks_text()}].push_back(sample);
  }
  return layouts;
}

void drop_contradictions(MachineCollectiveSamples& machine,
                         std::vector<DroppedSampleRow>& dropped) {
  for (const auto& [key, rows] : by_layout(machine.samples)) {
    if (!contradictory(rows)) continue;
    for (const CollectiveSample* row : rows) {
      dropped.push_back(
          {row->line, fmt::format("{} on {} of {}: its rows contradict each other",
                                  name_of(cost::kCollectiveNames, row->operation),
                                  row->nodes_by_ranks_text(), machine.machine->name)});
    }
    std::erase_if(machine.samples, [&key = key](const CollectiveSample* sample) {
      return sample->operation == std::get<0>(key) &&
             sample->nodes_by_ranks_text() == std::get<1>(key);
    });
  }
}

/// Returns the samples that the fit of one operation uses.
std::vector<TimedCollectiveRoutes> thinned(const std::vector<const CollectiveSample*>& samples,
                                           collective::CollectiveOperation operation) {
  std::vector<TimedCollectiveRoutes> result;
  for (auto& [key, found] : by_layout(samples)) {
    if (std::get<0>(key) != operation) continue;
    std::vector<const CollectiveSample*> rows = found;
    std::ranges::stable_sort(rows, {}, &CollectiveSample::payload_bytes);
    const std::size_t every = (rows.size() + kEnough - 1) / kEnough;
    for (std::size_t i = 0; i < rows.size(); i += every) {
      result.push_back({rows[i]->routes, rows[i]->seconds});
    }
  }
  return result;
}

/// Sets the start constants for kernels that read the buffers of all peers at once: their hops run
/// in parallel, and small messages wait for no handshake.
void start_from_kernels(cost::MachineCollectiveConstants& constants) {
  static constexpr std::array<cost::CollectiveProtocolConstants, cost::kProtocols> kKernels = {
      {{.start_us = 3, .hop = 0.04, .rate = 0.2},
       {.start_us = 1.5, .hop = 0.4, .rate = 0.95},
       {.start_us = 16, .hop = 0.9, .rate = 1}}};
  for (cost::CollectiveOperationConstants& operation : constants.operations) {
    for (int i = 0; i < cost::kProtocols; ++i) {
      operation.protocols[i].start_us = kKernels[i].start_us;
      operation.protocols[i].hop = kKernels[i].hop;
      operation.protocols[i].rate = kKernels[i].rate;
    }
  }
}

/// Copies the network constants of the all-reduce, with hops in proportion to the documented ones.
void inherit_network(cost::MachineCollectiveConstants& constants, std::size_t index) {
  const cost::MachineCollectiveConstants& unfitted = cost::default_collective_constants();
  cost::CollectiveOperationConstants& operation = constants.operations[index];
  const cost::CollectiveOperationConstants& reduce = constants.operations[0];
  operation.network_share = reduce.network_share;
  operation.congestion = reduce.congestion;
  for (int i = 0; i < cost::kProtocols; ++i) {
    operation.protocols[i].network_hop = reduce.protocols[i].network_hop *
                                         unfitted.operations[index].protocols[i].network_hop /
                                         unfitted.operations[0].protocols[i].network_hop;
  }
}

}  // namespace

RelativeErrorSummary summary(std::vector<double> errors) {
  RelativeErrorSummary result{.rows = errors.size()};
  if (errors.empty()) return result;
  result.signed_median = quantile(errors, 0.5);
  for (double& error : errors) {
    error = std::fabs(error);
    result.mean += error / static_cast<double>(errors.size());
  }
  result.median = quantile(errors, 0.5);
  return result;
}

std::vector<MachineCollectiveSamples> collective_samples_by_machine(
    std::span<const CollectiveSample> samples, std::vector<DroppedSampleRow>& dropped) {
  std::map<std::pair<const SampledMachine*, std::string>, MachineCollectiveSamples> machines;
  for (const CollectiveSample& sample : samples) {
    MachineCollectiveSamples& machine = machines[{sample.machine, sample.library}];
    machine.machine = sample.machine;
    machine.library = sample.library;
    machine.samples.push_back(&sample);
  }
  std::vector<MachineCollectiveSamples> result;
  for (auto& [key, machine] : machines) {
    drop_contradictions(machine, dropped);
    if (!machine.samples.empty()) result.push_back(std::move(machine));
  }
  return result;
}

MachineCollectiveFit fit_machine_collectives(const MachineCollectiveSamples& machine,
                                             const cost::MachineCollectiveConstants* inside) {
  MachineCollectiveFit fit{.machine = machine.machine, .library = machine.library};
  SampledClusterCache clusters;
  fit.constants = cost::collective_constants_without_fit(clusters.of(*machine.samples.front()));
  if (machine.library == kInferenceKernelLibraryName) start_from_kernels(fit.constants);
  for (int i = 0; inside != nullptr && i < cost::kCollectives; ++i) {
    const cost::CollectiveOperationConstants unfitted = fit.constants.operations[i];
    fit.constants.operations[i] = inside->operations[i];
    fit.constants.operations[i].network_share = unfitted.network_share;
    fit.constants.operations[i].tree_share = unfitted.tree_share;
  }
  for (const auto& [operation, name] : cost::kCollectiveNames) {
    const auto index = static_cast<std::size_t>(operation);
    const std::vector<TimedCollectiveRoutes> rows = thinned(machine.samples, operation);
    cost::DeterminedConstantFlags& parts = fit.parts[index];
    for (const CollectiveSample* sample : machine.samples) {
      if (sample->operation != operation) continue;
      ++fit.rows[index];
      cost::widen_fitted_ranges(fit.constants.ranges[index],
                                sample->sampled_bytes_ranks_and_nodes());
      parts.network = parts.network || sample->routes.ring.network_s > 0;
      parts.tree = parts.tree || sample->routes.tree.exists;
    }
    cost::CollectiveOperationConstants& constants = fit.constants.operations[index];
    const bool reduced_across = fit.parts[0].network && !parts.network;
    if (reduced_across) {
      inherit_network(fit.constants, index);
      parts.network = true;
    }
    constants =
        fit_collective_constants(rows, constants, {.inside = inside != nullptr ? 0.3 : 1.0});
  }
  fit.constants.fit = fit.machine->name;
  return fit;
}

RelativeErrorSummary prediction_error_summary(const cost::MachineCollectiveConstants& constants,
                                              std::span<const CollectiveSample* const> samples) {
  std::vector<double> errors;
  for (const CollectiveSample* sample : samples) {
    errors.push_back(
        cost::message_seconds_by_algorithm(sample->routes, constants.of(sample->operation)) /
            sample->seconds -
        1);
  }
  return summary(std::move(errors));
}

Json collective_fit_json(const MachineCollectiveFit& fit, const RelativeErrorSummary& held_out) {
  Json operations = Json::object();
  Json rows = Json::object();
  Json range = Json::object();
  for (const auto& [operation, name] : cost::kCollectiveNames) {
    const auto index = static_cast<std::size_t>(operation);
    if (fit.rows[index] == 0 && !fit.parts[index].network) continue;
    if (fit.rows[index] > 0) rows[std::string(name)] = fit.rows[index];
    for (const cost::FittedSizeRange& each : fit.constants.ranges[index]) {
      range[std::string(name)][each.name] = {each.low, each.high};
    }
    operations[std::string(name)] =
        cost::collective_constants_json(fit.constants.operations[index], fit.parts[index]);
  }
  return {{"library", fit.library},
          {"rows", std::move(rows)},
          {"range", std::move(range)},
          {"held_out_error", std::round(1e4 * held_out.median) / 1e4},
          {"operations", std::move(operations)}};
}

}  // namespace stepwright::fit
