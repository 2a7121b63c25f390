#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// Returns the bytes sent between GPUs in a step as a square matrix with at most `most` rows, each
/// for a GPU, a node or several nodes: {`ranks`, `ranks_each` (GPUs in a row or column),
/// `devices_per_node`, `total_bytes`, `cells` [[from, to, bytes], ...], `schemes`}.
nlohmann::ordered_json traffic_matrix_json(const simulate::PlanPrediction& prediction,
                                           std::int64_t most = 64);

}  // namespace stepwright::report
