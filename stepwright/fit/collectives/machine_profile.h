#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/fit/collectives/left_out.h"

namespace stepwright::fit {

/// The fitted constants of one library on one machine, with their errors on rows left out of fits.
struct FittedCollectiveLibrary {
  MachineCollectiveFit fit;
  MachineStudy study;
  /// Why the fitted constants are not used (on rows left out of the fit they predict worse than the
  /// default constants do); empty: they are used.
  std::string refused;
};

/// The fitted collectives of one machine, one entry for each library.
struct FittedMachineCollectives {
  const SampledMachine* machine = nullptr;
  std::vector<FittedCollectiveLibrary> libraries;

  /// True if the fit of at least one library is used.
  [[nodiscard]] bool uses_fit_of_any_library() const;
};

/// The fits of all machines in tables of timed collectives.
struct FittedMachineList {
  std::vector<FittedMachineCollectives> machines;
  /// Rows that no fit used, with reasons, by file name.
  std::vector<std::pair<std::string, std::vector<DroppedSampleRow>>> dropped;
};

/// Fits the collectives of every machine in the tables. If another machine in the tables has the
/// same devices, sampled inside a node, the fit starts from its constants.
FittedMachineList fit_collectives_of_machines(const std::vector<CollectiveSampleTable>& tables);

/// Returns the profile document `profile/1` of a machine: {`name`, `cluster`, `device`, `sources`,
/// `collectives` [{`library`, `rows` {operation: count}, `held_out_error`, `range` {operation:
/// {`bytes` [least, most], `ranks`, `nodes`}}, `operations` {operation: {`fill`, `inside_share`,
/// `few_ranks`, `network_share`, `tree_share`, `switch_share`, `crowding`, `start_us`, `hop`,
/// `network_hop`, `rate`, `belief`}}}]}. `start_us` to `belief` have a number for each protocol;
/// rates may not fall and beliefs may not grow from one protocol to the next. Equal samples give
/// equal bytes.
nlohmann::ordered_json machine_profile_document(const FittedMachineCollectives& machine,
                                                const std::vector<std::string>& sources);

/// Returns the text of a profile file for fitted collectives.
std::string machine_profile_text(const nlohmann::ordered_json& profile);

}  // namespace stepwright::fit
