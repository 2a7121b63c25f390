#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/lab/capacity.h"
#include "stepwright/lab/rank_run.h"
#include "stepwright/lab/spec.h"

namespace stepwright::cli {

/// The text of `lab check`: the rates of a lab beside what TCP carries on this machine, and what
/// its links keep when all are busy.
std::string lab_check_text(const lab::LabSpec& spec, double capacity_bytes_per_s,
                           const lab::BusyLinks& busy);
nlohmann::ordered_json lab_check_json(const lab::LabSpec& spec, double capacity_bytes_per_s,
                                      const lab::BusyLinks& busy);

/// Why a lab is too fast for a machine on which TCP carries so much; empty when it is not.
std::string too_fast(const lab::LabSpec& spec, double capacity_bytes_per_s);

/// How the ranks of a run ended.
nlohmann::ordered_json run_json(const lab::RunResult& result);

}  // namespace stepwright::cli
