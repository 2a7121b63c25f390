#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// Who sends how much to whom in a step, in squares of GPUs, nodes or equal runs of nodes, at most
/// `most` of them a side. All bytes of the traffic matrix are in it. {`ranks`, `ranks_each` (GPUs
/// of a square's side), `devices_per_node`, `total_bytes`, `cells` [[from, to, bytes], ...],
/// `schemes`}.
nlohmann::ordered_json traffic_squares_json(const simulate::Prediction& prediction,
                                            std::int64_t most = 64);

}  // namespace stepwright::report
