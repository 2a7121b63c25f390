#pragma once

#include <algorithm>
#include <iterator>

#include "stepwright/model/architecture.h"
#include "stepwright/step/operator.h"

namespace stepwright::step {

/// A mixer that scans a state along the sequence (delta net, Mamba), and the `Purpose` that marks
/// its scan operator.
struct ScanPurpose {
  model::Mixer mixer;
  Purpose purpose;
};
inline constexpr ScanPurpose kScanPurposes[] = {{model::Mixer::kDeltaNet, Purpose::kDeltaScan},
                                                {model::Mixer::kMamba2, Purpose::kMamba2Scan},
                                                {model::Mixer::kMamba, Purpose::kMambaScan}};

/// Returns the `Purpose` that marks the scan operator of a mixer; the mixer must have a scan.
inline Purpose scan_purpose_of(model::Mixer mixer) {
  return std::ranges::find(kScanPurposes, mixer, &ScanPurpose::mixer)->purpose;
}
/// Returns the mixer (delta net, Mamba-2 or Mamba) whose scan operator is marked by this `Purpose`.
inline model::Mixer mixer_of_scan(Purpose purpose) {
  return std::ranges::find(kScanPurposes, purpose, &ScanPurpose::purpose)->mixer;
}

}  // namespace stepwright::step
