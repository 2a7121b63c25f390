#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/fit/collectives/left_out.h"

namespace stepwright::fit {

/// One library on one machine, fitted and judged.
struct FittedLibrary {
  MachineFit fit;
  MachineStudy study;
  /// Why the fit is not used: it predicts rows that it never saw worse than the defaults do.
  std::string refused;
};

/// Fits of one machine, by library.
struct FittedMachine {
  const SampledMachine* machine = nullptr;
  std::vector<FittedLibrary> libraries;

  /// Whether any fit is used.
  [[nodiscard]] bool useful() const;
};

/// The result of fitting tables of collective samples.
struct FittedCollectives {
  std::vector<FittedMachine> machines;
  /// Rows that no fit saw, by file.
  std::vector<std::pair<std::string, std::vector<DroppedRow>>> dropped;
};

/// Fits every machine of the tables. One whose devices were sampled inside a node by another
/// machine of the tables starts from that one's constants.
FittedCollectives fit_collectives(const std::vector<CollectiveSamples>& tables);

/// The profile `profile/1` of a machine: {`name`, `cluster`, `device`, `sources`, `collectives`
/// [{`library`, `rows` {operation: count}, `held_out_error`, `range` {operation: {`bytes` [least,
/// most], `ranks`, `nodes`}}, `operations` {operation: {`fill`, `inside_share`, `few_ranks`,
/// `network_share`, `tree_share`, `switch_share`, `crowding`, `start_us`, `hop`, `network_hop`,
/// `rate`, `belief`}}}]}. The last five have a number for each protocol; rates may not fall and
/// beliefs may not grow from protocol to protocol. The same samples give the same bytes.
nlohmann::ordered_json machine_profile(const FittedMachine& machine,
                                       const std::vector<std::string>& sources);

/// The text of a profile file.
std::string machine_profile_text(const nlohmann::ordered_json& profile);

}  // namespace stepwright::fit
