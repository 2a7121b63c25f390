#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stepwright/model/parameters.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

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

/// The rows of the matrices that stand in a parameter one below the other: queries, keys and values
/// are one each, gate and up one together (NVIDIA/Megatron-LM
/// megatron/core/optimizer/emerging_optimizers.py, split_qkv). Empty of vectors and of what has one
/// row or column.
std::vector<std::int64_t> matrix_rows(const model::Parameter& whole);

/// Whether the matrices of a parameter of this name are those of `ActsOn::kLayerMatrices`.
bool is_of_layers(std::string_view name);

/// How matrices are updated, and over how many tensor ranks (of experts expert-tensor ranks) they
/// are cut.
struct MatrixUpdate {
  plan::Optimizer optimizer;
  plan::MuonForm form;
  std::int64_t cut = 1;
};

/// The matrices that stand in a parameter, of which one rank holds `local`, and what an optimizer
/// keeps of it beside moments of elements. A distributed step multiplies columns of its part alone
/// and sums k x k products of the k that is not cut; parts are gathered in fp32 for a duplicated
/// one. Of sums those of columns are shared by ranks that have some of the rows each, and the
/// reverse.
MatrixSize matrices_of(const model::Parameter& whole, const LocalParameter& local,
                       const MatrixUpdate& update);

}  // namespace stepwright::step
