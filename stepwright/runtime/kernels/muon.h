#pragma once

#include <vector>

#include "stepwright/runtime/kernels/update_rates.h"

namespace stepwright::runtime {

// Muon: coefficients of five steps, momentum and scale, with Nesterov's momentum
// (https://kellerjordan.github.io/posts/muon, https://github.com/KellerJordan/Muon muon.py), each
// matrix by itself. Tensor ranks share a matrix as in NVIDIA/Megatron-LM
// megatron/core/optimizer/emerging_optimizers.py, TensorParallelMuon, whose scale is that of the
// whole matrix in all of its forms. The matrices are divided among the ranks that share states;
// each rank makes its matrices orthogonal as a whole.
//
// The functions below are stages: each runs the stages before it if they have not run in this step.
// Messages between stages thus find the values to share, and without messages all stages run at the
// update.

/// Returns the parameters of a kind (dense or expert) whose matrices are made orthogonal, block by
/// block.
std::vector<StoredParameter*> orthogonal_parameters(RankState& rank, bool expert);

/// Returns the step with the momentum of this rank's gradients, and with the rank that makes each
/// matrix orthogonal. Fails with `kUnsupported` where ranks that share states would have unequal
/// parts of the matrices.
OrthogonalStep& with_momentum(RankState& rank, bool expert);
/// Returns the step with the matrices that this rank makes orthogonal, as its tensor rank has them.
OrthogonalStep& with_matrices(RankState& rank, bool expert);
/// Returns the step with the updates of these matrices.
OrthogonalStep& with_updates(RankState& rank, bool expert);

/// Added to norms before matrices are divided by them.
inline constexpr double kLeastNorm = 1e-7;

/// Returns nearly the closest matrix whose singular values are all 1.
at::Tensor orthogonal(const at::Tensor& matrix);

/// One iteration of `orthogonal` on a part of a matrix: `product_of_part` returns the product that
/// ranks sum, `next_part` the next part from the sum. `rows_cut`: true: the part has some of the
/// rows; false: some of the columns.
at::Tensor product_of_part(const at::Tensor& part, bool rows_cut);
at::Tensor next_part(const at::Tensor& part, const at::Tensor& product, bool rows_cut);

/// Updates a parameter by Muon.
void muon(StoredParameter& parameter, RankState& rank, const UpdateRates& rates);

}  // namespace stepwright::runtime
