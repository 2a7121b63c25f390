#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stepwright/model/parameters.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

/// Number of Newton-Schulz steps in one Muon update (https://kellerjordan.github.io/posts/muon).
inline constexpr std::int64_t kNewtonSchulzSteps = 5;

/// Name of the operator that orthogonalizes (Muon) the dense matrices of a pipeline stage.
inline constexpr std::string_view kOrthogonalizeDenseOperatorName = "orthogonalize";
/// Name of the operator that orthogonalizes the expert matrices of a pipeline stage.
inline constexpr std::string_view kOrthogonalizeExpertName = "orthogonalize.experts";

/// Matrix products in the Muon update of one matrix: three in each Newton-Schulz step.
inline constexpr double kMuonMatrixProductsPerUpdate = 3.0 * kNewtonSchulzSteps;

/// Returns the FLOPs of one Newton-Schulz step for an m x n matrix with m the smaller: X X^T, its
/// square, and the product of both with X, 4 m^2 n + 2 m^3.
std::int64_t newton_schulz_step_flops(std::int64_t rows, std::int64_t columns);

/// Returns the row counts of the matrices that are stacked in one parameter: queries, keys and
/// values are one matrix each, gate and up are one together (NVIDIA/Megatron-LM
/// megatron/core/optimizer/emerging_optimizers.py, split_qkv). Empty for vectors and for parameters
/// with one row or column.
std::vector<std::int64_t> stacked_matrix_row_counts(const model::ModelParameter& whole);

/// True if the parameter `name` belongs to a layer, not to the embedding or the head: only matrices
/// of layers are orthogonalized.
bool is_layer_parameter(std::string_view name);

/// How an optimizer updates matrices, and the number of tensor ranks (for experts: expert-tensor
/// ranks) over which each matrix is split.
struct MatrixOptimizerUpdate {
  plan::Optimizer optimizer;
  plan::MuonTensorSplit form;
  std::int64_t cut = 1;
};

/// Returns the sizes of the matrices stacked in a parameter, of which one rank holds `local`, and
/// of what their optimizer (Muon, Adafactor) keeps in addition to element-wise moments. A
/// distributed Newton-Schulz step multiplies only this rank's columns and sums k x k products, k
/// being the unsplit dimension; a duplicated step gathers the shards in fp32. Sums over columns are
/// shared by ranks that each hold some of the rows, and sums over rows by ranks that each hold some
/// of the columns.
OptimizerMatrixSizes stacked_matrix_sizes(const model::ModelParameter& whole,
                                          const RankLocalParameter& local,
                                          const MatrixOptimizerUpdate& update);

}  // namespace stepwright::step
