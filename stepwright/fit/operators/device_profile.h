#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/fit/operators/device_fit.h"

namespace stepwright::fit {

/// The parts of an operator profile file other than its fits.
struct OperatorProfileHeader {
  std::string name;
  OperatorFitDevice target;
  std::vector<std::string> sources;  ///< File names of the tables of samples.
};

/// Returns the profile document `profile/1` with the operators that were not refused: {`name`,
/// `device` {`name`, `peak_flops` (16 bits), `memory_bandwidth_bytes_per_s`, `multiprocessors`},
/// `operators`, `sources`}. Keys of an operator:
/// - `class`, `pass`: as in cost/laws/operator_class.h
/// - `kernel`: kernel of attention; one operator for each that was sampled
/// - `chosen`: `law`, `trees` or `law_times_trees`
/// - `law`: constants of docs/models.md
/// - `trees`: {`range` (never exceeded), `base`, `trees`}. A tree is a text of its nodes, each
///   before its children, the lower child first: `FEATURE<THRESHOLD`, or the value of a leaf
/// - `range`: quantity -> [lowest, highest] fitted
/// - `rows`, `dropped`: rows that count; rows by reason
/// - `held_out`, `series`: errors {`mean`, `median`, `p90`, `bias`, `rows`} by candidate
///   (`unfitted`: the defaults), and of the chosen one by operator
/// - `derived`: the law from which it was derived, when nothing was measured
nlohmann::ordered_json operator_profile_json(const OperatorProfileHeader& head,
                                             const DeviceFit& fit);

/// Returns the text of an operator profile file: indented, with short lists on one line. Equal fits
/// give equal bytes.
std::string operator_profile_text(const nlohmann::ordered_json& profile);

}  // namespace stepwright::fit
