#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/fit/measured_sample.h"

namespace stepwright {

/// A law and how well it does on rows that it has not seen (each fifth row left out in turn).
template <class Law>
struct MeasuredLaw {
  Law law;
  std::size_t rows = 0;
  double held_out_error = 0;  ///< Median of |predicted / measured - 1|.
};

/// Fitted laws of a cluster's own messages and computations.
struct MeasuredFit {
  std::map<Collective, MeasuredLaw<SampledLaw<SocketLaw>>> messages;  ///< Of c10d's Gloo.
  std::map<std::pair<Algorithm, Collective>, MeasuredLaw<SampledLaw<ScheduleLaw>>> schedules;
  std::vector<MeasuredLaw<ComputationLaw>> computations;
  MeasuredOverlap overlap;
};

/// Fits every operation, and every kind, phase and type of computation, that has samples.
MeasuredFit fit_measured(const MeasuredSamples& samples);

/// The file `measured/1` of a fit.
nlohmann::ordered_json measured_json(const MeasuredFit& fit, const std::string& name,
                                     const std::vector<std::string>& sources);

}  // namespace stepwright
