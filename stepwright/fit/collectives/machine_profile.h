#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/fit/collectives/left_out.h"

namespace stepwright::fit {

/// The fit of one library on one machine, with its errors on rows left out.
struct FittedLibrary {
  MachineFit fit;
  MachineStudy study;
  /// Why the fit is not used (it predicts rows left out worse than the defaults do); empty: it is
  /// used.
  std::string refused;
};

/// The fits of one machine, one for each library.
struct FittedMachine {
  const SampledMachine* machine = nullptr;
  std::vector<FittedLibrary> libraries;

  /// True if any of the fits is used.
  [[nodiscard]] bool useful() const;
};

/// The result of fitting tables of collective samples.
struct FittedCollectives {
  std::vector<FittedMachine> machines;
  /// Rows that no fit used, by file.
  std::vector<std::pair<std::string, std::vector<DroppedRow>>> dropped;
};

/// Fits every machine of the tables. If another machine of the tables sampled the same devices
/// inside a node, the fit starts from its constants.
FittedCollectives fit_collectives(const std::vector<CollectiveSamples>& tables);

/// Returns the profile `profile/1` of a machine: {`name`, `cluster`, `device`, `sources`,
/// `collectives` [{`library`, `rows` {operation: count}, `held_out_error`, `range` {operation:
/// {`bytes` [least, most], `ranks`, `nodes`}}, `operations` {operation: {`fill`, `inside_share`,
/// `few_ranks`, `network_share`, `tree_share`, `switch_share`, `crowding`, `start_us`, `hop`,
/// `network_hop`, `rate`, `belief`}}}]}. `start_us` to `belief` have a number for each protocol;
/// rates may not fall and beliefs may not grow from one protocol to the next. The same samples give
/// the same bytes.
nlohmann::ordered_json machine_profile(const FittedMachine& machine,
                                       const std::vector<std::string>& sources);

/// Returns the text of a profile file.
std::string machine_profile_text(const nlohmann::ordered_json& profile);

}  // namespace stepwright::fit
