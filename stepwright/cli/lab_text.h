#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/lab/capacity.h"
#include "stepwright/lab/rank_run.h"
#include "stepwright/lab/spec.h"

namespace stepwright::cli {

/// Returns the text of `lab check`: the rates of a lab, the TCP rate of this machine, and the
/// shares of their rates that links keep when all are busy.
std::string lab_check_text(const lab::LabSpec& spec, double capacity_bytes_per_s,
                           const lab::BusyLinks& busy);
nlohmann::ordered_json lab_check_json(const lab::LabSpec& spec, double capacity_bytes_per_s,
                                      const lab::BusyLinks& busy);

/// Returns the reason why a lab's links are too fast for a machine with this TCP rate; empty: they
/// are not.
std::string lab_too_fast_reason(const lab::LabSpec& spec, double capacity_bytes_per_s);

/// Returns, as JSON, how the ranks of a run ended.
nlohmann::ordered_json run_json(const lab::RunResult& result);

}  // namespace stepwright::cli
