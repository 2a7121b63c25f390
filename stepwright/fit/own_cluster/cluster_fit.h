#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// A formula with fitted constants and, if it was computed, its error on rows that the fit did not
/// use (each fifth row left out in turn).
template <class FittedFormula>
struct FittedLaw {
  FittedFormula law;
  std::size_t rows = 0;
  /// Median of |predicted / measured - 1| on rows left out of the fit; nullopt: not computed.
  std::optional<double> held_out_error;
};

/// Formulas fitted to the messages and computations that were measured on a user's own cluster.
struct OwnClusterFit {
  std::map<collective::CollectiveOperation, FittedLaw<cost::SampledLaw<cost::GlooCostLaw>>>
      /// Formulas for collectives of Gloo, the library of torch.distributed (c10d), by operation.
      messages;
  std::map<std::pair<collective::CollectiveAlgorithm, collective::CollectiveOperation>,
           FittedLaw<cost::SampledLaw<cost::ScheduledCollectiveLaw>>>
      schedules;
  /// Formulas for the time that the host spends on messages besides their transfer; an entry with 0
  /// rows is assumed, not fitted.
  std::vector<FittedLaw<cost::MessageHostOverheadLaw>> host_overhead;
  std::vector<FittedLaw<cost::ComputationTimeLaw>> computations;
  cost::MeasuredOverlapSlowdown overlap;
};

/// Fits a formula for every collective operation, and for every kind, phase and element type of
/// computation, that has samples.
OwnClusterFit fit_own_cluster(const OwnClusterSamples& samples);

/// Returns the file `measured/1` of a fit: {`name`, `messages`, `handling`, `computations`,
/// `overlap` {`beside_inside`, `beside_network`}, `sources`}.
/// - a message: `library`, `operation`, `start_us`, `network_hop_us`, `inside_bytes_per_s`,
///   `network_bytes_per_s`, `own_nics`, `shapes`, `rows`, `held_out_error`; of Gloo also `hop_us`,
///   of a schedule `chunk_bytes` and `message_us`
/// - handling: `scheme`, `operation`, `start_us`, `bytes_per_s`, `rows`
/// - a computation: `operator`, `phase`, `dtype`, `start_us`, `flops_per_s`, `bytes_per_s`, `rows`,
///   `held_out_error`
nlohmann::ordered_json measured_profile_json(const OwnClusterFit& fit, const std::string& name,
                                             const std::vector<std::string>& sources);

}  // namespace stepwright::fit
