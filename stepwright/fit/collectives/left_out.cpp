#include "stepwright/fit/collectives/left_out.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>

#include "stepwright/core/fnv.h"

namespace stepwright::fit {
namespace {

constexpr double kSmall = 1048576;

/// Returns a hash that is equal on every machine.
std::uint64_t hash_of(const std::string& text) {
  const std::uint64_t hash = fnv1a(text);
  return hash ^ (hash >> 29);
}

/// Signed relative errors of rows left out.
struct Errors {
  std::vector<double> all, small, unfitted;

  [[nodiscard]] CrossValidationErrors summarised() const {
    return {summary(all), summary(small), summary(unfitted)};
  }
};

/// True if no sample of the same operation and reach (inside a node, across nodes) was kept.
bool alone(const CollectiveSample& sample, const MachineCollectiveSamples& kept) {
  return std::ranges::none_of(kept.samples, [&](const CollectiveSample* other) {
    return other->operation == sample.operation && (other->nodes > 1) == (sample.nodes > 1);
  });
}

using Test = std::function<bool(const CollectiveSample&)>;

/// Fits the samples that `test` does not select, and adds the errors on those that it does.
void leave_out(const MachineCollectiveSamples& machine,
               const cost::MachineCollectiveConstants* inside, const Test& test, Errors& errors) {
  MachineCollectiveSamples kept{
      .machine = machine.machine, .library = machine.library, .samples = {}};
  std::vector<const CollectiveSample*> left;
  for (const CollectiveSample* sample : machine.samples) {
    (test(*sample) ? left : kept.samples).push_back(sample);
  }
  if (kept.samples.empty()) return;
  std::erase_if(left, [&](const CollectiveSample* sample) { return alone(*sample, kept); });
  const cost::MachineCollectiveConstants fitted = fit_machine_collectives(kept, inside).constants;
  SampledClusterCache clusters;
  for (const CollectiveSample* sample : left) {
    const auto error = [&](const cost::MachineCollectiveConstants& constants) {
      return cost::message_seconds_by_algorithm(sample->routes, constants.of(sample->operation)) /
                 sample->seconds -
             1;
    };
    errors.all.push_back(error(fitted));
    if (sample->payload_bytes < kSmall) errors.small.push_back(error(fitted));
    errors.unfitted.push_back(error(cost::collective_constants_without_fit(clusters.of(*sample))));
  }
}

}  // namespace

int cross_validation_fold_of_sample(const CollectiveSample& sample) {
  return static_cast<int>(hash_of(sample.id) % 5);
}

CrossValidationErrors cross_validate_rows(const MachineCollectiveSamples& machine,
                                          const cost::MachineCollectiveConstants* inside) {
  Errors errors;
  for (int fifth = 0; fifth < 5; ++fifth) {
    const Test test = [&](const CollectiveSample& sample) {
      return cross_validation_fold_of_sample(sample) == fifth;
    };
    leave_out(machine, inside, test, errors);
  }
  return errors.summarised();
}

MachineStudy cross_validate_machine(const MachineCollectiveSamples& machine,
                                    const cost::MachineCollectiveConstants* inside) {
  MachineStudy study{.machine = machine.machine,
                     .library = machine.library,
                     .rows = machine.samples.size(),
                     .rows_left_out = cross_validate_rows(machine, inside)};
  std::set<std::string> layouts;
  for (const CollectiveSample* sample : machine.samples)
    layouts.insert(sample->nodes_by_ranks_text());
  if (layouts.size() < 3) return study;
  Errors together;
  for (const std::string& layout : layouts) {
    const Test test = [&](const CollectiveSample& sample) {
      return sample.nodes_by_ranks_text() == layout;
    };
    Errors errors;
    leave_out(machine, inside, test, errors);
    study.layouts.push_back({layout, errors.summarised()});
    together.all.insert(together.all.end(), errors.all.begin(), errors.all.end());
    together.small.insert(together.small.end(), errors.small.begin(), errors.small.end());
    together.unfitted.insert(together.unfitted.end(), errors.unfitted.begin(),
                             errors.unfitted.end());
  }
  study.layouts_left_out = together.summarised();
  return study;
}

}  // namespace stepwright::fit
