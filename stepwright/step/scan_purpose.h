#pragma once

#include <algorithm>
#include <iterator>

#include "stepwright/model/architecture.h"
#include "stepwright/step/operator.h"

namespace stepwright {

/// What a scan computes, by the mixer that it is of.
struct ScanPurpose {
  Mixer mixer;
  Purpose purpose;
};
inline constexpr ScanPurpose kScanPurposes[] = {{Mixer::kDeltaNet, Purpose::kDeltaScan},
                                                {Mixer::kMamba2, Purpose::kMamba2Scan},
                                                {Mixer::kMamba, Purpose::kMambaScan}};

/// Of a mixer that scans.
inline Purpose scan_of(Mixer mixer) {
  return std::ranges::find(kScanPurposes, mixer, &ScanPurpose::mixer)->purpose;
}
/// Of the purpose of a scan.
inline Mixer scanned_by(Purpose purpose) {
  return std::ranges::find(kScanPurposes, purpose, &ScanPurpose::purpose)->mixer;
}

}  // namespace stepwright
