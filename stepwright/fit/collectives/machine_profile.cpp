#include "stepwright/fit/collectives/machine_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"

namespace stepwright::fit {
namespace {

using Json = nlohmann::ordered_json;

FittedCollectiveLibrary fitted(const MachineCollectiveSamples& samples,
                               const cost::MachineCollectiveConstants* inside) {
  FittedCollectiveLibrary library{.fit = fit_machine_collectives(samples, inside),
                                  .study = cross_validate_machine(samples, inside),
                                  .refused = {}};
  const CrossValidationErrors& errors = library.study.rows_left_out;
  if (errors.all.rows > 0 && errors.all.mean > errors.unfitted.mean) {
    library.refused = fmt::format("{:.1f}% off on rows left out, {:.1f}% with the defaults",
                                  100 * errors.all.mean, 100 * errors.unfitted.mean);
  }
  return library;
}

/// Returns the constants of a built-in profile of the same devices inside a node.
cost::MachineCollectiveConstants built_in_start(const MachineCollectiveSamples& samples) {
  SampledClusterCache clusters;
  return cost::collective_constants_of_profile(clusters.of(*samples.samples.front()),
                                               samples.machine->inside,
                                               cost::kDefaultCollectiveLibrary);
}

/// Returns JSON as text, with the numbers of short lists on one line.
std::string compact(const Json& json, int depth) {
  const std::string indent(static_cast<std::size_t>(2 * depth + 2), ' ');
  const bool flat = std::ranges::none_of(json, [](const Json& v) { return v.is_structured(); });
  if (!json.is_structured() || (json.is_array() && flat)) return json.dump();
  std::string text = json.is_array() ? "[" : "{";
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    text += fmt::format("{}\n{}", first ? "" : ",", indent);
    if (json.is_object()) text += fmt::format("\"{}\": ", key);
    text += compact(value, depth + 1);
    first = false;
  }
  return text + fmt::format("\n{}{}", indent.substr(2), json.is_array() ? "]" : "}");
}

}  // namespace

bool FittedMachineCollectives::uses_fit_of_any_library() const {
  return std::ranges::any_of(libraries,
                             [](const FittedCollectiveLibrary& l) { return l.refused.empty(); });
}

FittedMachineList fit_collectives_of_machines(const std::vector<CollectiveSampleTable>& tables) {
  FittedMachineList result;
  std::vector<CollectiveSample> all;
  for (const CollectiveSampleTable& table : tables) {
    std::vector<DroppedSampleRow> dropped = table.dropped;
    static_cast<void>(collective_samples_by_machine(table.samples, dropped));
    std::ranges::stable_sort(dropped, {}, &DroppedSampleRow::line);
    result.dropped.emplace_back(table.file, std::move(dropped));
    all.insert(all.end(), table.samples.begin(), table.samples.end());
  }
  std::vector<DroppedSampleRow> ignored;
  std::map<std::string_view, cost::MachineCollectiveConstants> inside;
  for (const MachineCollectiveSamples& samples : collective_samples_by_machine(all, ignored)) {
    const cost::MachineCollectiveConstants* start = nullptr;
    if (samples.library == cost::kDefaultCollectiveLibrary && !samples.machine->inside.empty()) {
      start = &inside.try_emplace(samples.machine->inside, built_in_start(samples)).first->second;
    }
    FittedCollectiveLibrary library = fitted(samples, start);
    if (samples.library == cost::kDefaultCollectiveLibrary) {
      inside.insert_or_assign(samples.machine->name, library.fit.constants);
    }
    if (result.machines.empty() || result.machines.back().machine != samples.machine) {
      result.machines.push_back({samples.machine, {}});
    }
    result.machines.back().libraries.push_back(std::move(library));
  }
  return result;
}

Json machine_profile_document(const FittedMachineCollectives& machine,
                              const std::vector<std::string>& sources) {
  const cluster::Cluster cluster = cluster::built_in_cluster(machine.machine->cluster, 1).value();
  Json list = Json::array();
  for (const FittedCollectiveLibrary& library : machine.libraries) {
    if (!library.refused.empty()) continue;
    list.push_back(collective_fit_json(library.fit, library.study.rows_left_out.all));
  }
  return {{"stepwright", "profile/1"},      {"name", machine.machine->name},
          {"cluster", cluster.name},        {"device", cluster.device.name},
          {"collectives", std::move(list)}, {"sources", sources}};
}

std::string machine_profile_text(const Json& profile) { return compact(profile, 0) + "\n"; }

}  // namespace stepwright::fit
