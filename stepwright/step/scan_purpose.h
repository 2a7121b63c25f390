#pragma once

#include <algorithm>
#include <iterator>

#include "stepwright/model/architecture.h"
#include "stepwright/step/operator.h"

namespace stepwright::step {

/// A mixer and the `Purpose` of its scan operator.
struct ScanPurpose {
  model::Mixer mixer;
  Purpose purpose;
};
inline constexpr ScanPurpose kScanPurposes[] = {{model::Mixer::kDeltaNet, Purpose::kDeltaScan},
                                                {model::Mixer::kMamba2, Purpose::kMamba2Scan},
                                                {model::Mixer::kMamba, Purpose::kMambaScan}};

/// Purpose of a mixer's scan operator; the mixer must have a scan.
inline Purpose scan_of(model::Mixer mixer) {
  return std::ranges::find(kScanPurposes, mixer, &ScanPurpose::mixer)->purpose;
}
/// The mixer whose scan operator has this purpose.
inline model::Mixer scanned_by(Purpose purpose) {
  return std::ranges::find(kScanPurposes, purpose, &ScanPurpose::purpose)->mixer;
}

}  // namespace stepwright::step
