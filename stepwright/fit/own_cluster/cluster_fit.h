#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// A law and, where it was judged, how well it does on rows that it has not seen (each fifth row
/// left out in turn).
template <class Law>
struct FittedLaw {
  Law law;
  std::size_t rows = 0;
  std::optional<double> held_out_error;  ///< Median of |predicted / measured - 1|.
};

/// Fitted laws of a cluster's own messages and computations.
struct ClusterFit {
  std::map<collective::Collective, FittedLaw<cost::SampledLaw<cost::SocketLaw>>>
      messages;  ///< Laws of c10d's Gloo.
  std::map<std::pair<collective::Algorithm, collective::Collective>,
           FittedLaw<cost::SampledLaw<cost::ScheduleLaw>>>
      schedules;
  /// Laws of host overhead; no rows: assumed.
  std::vector<FittedLaw<cost::HostOverheadLaw>> host_overhead;
  std::vector<FittedLaw<cost::ComputationLaw>> computations;
  cost::MeasuredOverlap overlap;
};

/// Fits every operation, and every kind, phase and type of computation, that has samples.
ClusterFit fit_cluster(const OwnSamples& samples);

/// The file `measured/1` of a fit.
nlohmann::ordered_json measured_json(const ClusterFit& fit, const std::string& name,
                                     const std::vector<std::string>& sources);

}  // namespace stepwright::fit
