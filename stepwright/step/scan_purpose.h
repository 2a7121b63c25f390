#pragma once

#include <algorithm>
#include <iterator>

#include "stepwright/model/architecture.h"
#include "stepwright/step/operator.h"

namespace stepwright::step {

/// A mixer that scans a state along the sequence (delta net, Mamba), and the `OperatorPurpose` that
/// marks its scan operator.
struct ScanPurpose {
  model::TokenMixer mixer;
  OperatorPurpose purpose;
};
inline constexpr ScanPurpose kScanPurposes[] = {
    {model::TokenMixer::kDeltaNet, OperatorPurpose::kDeltaScan},
    {model::TokenMixer::kMamba2, OperatorPurpose::kMamba2Scan},
    {model::TokenMixer::kMamba, OperatorPurpose::kMambaScan}};

/// Returns the `OperatorPurpose` that marks the scan operator of a mixer; the mixer must have a
/// scan.
inline OperatorPurpose scan_purpose_of(model::TokenMixer mixer) {
  return std::ranges::find(kScanPurposes, mixer, &ScanPurpose::mixer)->purpose;
}
/// Returns the mixer (delta net, Mamba-2 or Mamba) whose scan operator is marked by this
/// `OperatorPurpose`.
inline model::TokenMixer mixer_of_scan(OperatorPurpose purpose) {
  return std::ranges::find(kScanPurposes, purpose, &ScanPurpose::purpose)->mixer;
}

}  // namespace stepwright::step
