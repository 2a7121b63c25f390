#pragma once

#include <vector>

#include "stepwright/runtime/kernels/update_rates.h"

namespace stepwright::runtime {

// Muon: coefficients of five steps, momentum and scale, with Nesterov's momentum
// (https://kellerjordan.github.io/posts/muon, https://github.com/KellerJordan/Muon muon.py), each
// matrix by itself. Tensor ranks share one as in NVIDIA/Megatron-LM
// megatron/core/optimizer/emerging_optimizers.py, TensorParallelMuon, whose scale is that of the
// whole matrix in all of its forms. Of the ranks that share states each makes whole matrices
// orthogonal.
//
// Each stage computes what those before it leave, once a step, so that messages between them find
// what they share, and nothing where there are none.

/// The parameters of a kind whose matrices are made orthogonal, block by block.
std::vector<StoredParameter*> orthogonal_parameters(RankState& rank, bool expert);

/// Gradients with momentum, of what this rank holds, and who makes which matrix orthogonal. Fails
/// with `kUnsupported` where ranks that share states would have unequal parts of the matrices.
OrthogonalStep& with_momentum(RankState& rank, bool expert);
/// With the matrices that this rank makes orthogonal, as its tensor rank has them.
OrthogonalStep& with_matrices(RankState& rank, bool expert);
/// Returns the step with the updates of those matrices.
OrthogonalStep& with_updates(RankState& rank, bool expert);

/// Number added to norms by which matrices are divided.
inline constexpr double kLeastNorm = 1e-7;

/// The nearest matrix with singular values of about 1.
at::Tensor orthogonal(const at::Tensor& matrix);

/// One step of it for a part of a matrix: the product that ranks sum, and the part that follows
/// from their sum. `rows_cut`: the part has some of the rows, else of the columns.
at::Tensor product_of_part(const at::Tensor& part, bool rows_cut);
at::Tensor next_part(const at::Tensor& part, const at::Tensor& product, bool rows_cut);

/// The update of a parameter.
void muon(StoredParameter& parameter, RankState& rank, const UpdateRates& rates);

}  // namespace stepwright::runtime
