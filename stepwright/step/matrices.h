#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/model/parameters.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright {

/// Steps of Newton and Schulz of one update (Muon: https://kellerjordan.github.io/posts/muon).
inline constexpr std::int64_t kOrthogonalSteps = 5;

/// The names of operators that make a position's matrices orthogonal.
inline constexpr std::string_view kDenseMatrices = "orthogonalize";
inline constexpr std::string_view kExpertMatrices = "orthogonalize.experts";

/// Products of an update of one matrix.
inline constexpr double kOrthogonalKernels = 3.0 * kOrthogonalSteps;

/// FLOPs of one step for an m x n matrix with m the smaller: X X^T, its square and their product
/// with X, 4 m^2 n + 2 m^3.
std::int64_t orthogonal_flops(std::int64_t rows, std::int64_t columns);

/// Whether a parameter of a layer is a matrix, as `ActsOn::kLayerMatrices` means it.
bool is_layer_matrix(std::string_view name, std::int64_t rows, std::int64_t columns);

/// How matrices are updated, and over how many tensor ranks (of experts expert-tensor ranks) they
/// are cut.
struct MatrixUpdate {
  Optimizer optimizer;
  MuonForm form;
  std::int64_t cut = 1;
};

/// The matrices that stand in a parameter, of which one rank holds `local`: queries, keys and
/// values are one each, gate and up one together (NVIDIA/Megatron-LM
/// megatron/core/optimizer/emerging_optimizers.py, split_qkv). A distributed step multiplies
/// columns of its part alone and sums k x k products of the k that is not cut; parts are gathered
/// in fp32 for a duplicated one.
MatrixSize matrices_of(const Parameter& whole, const LocalParameter& local,
                       const MatrixUpdate& update);

}  // namespace stepwright
