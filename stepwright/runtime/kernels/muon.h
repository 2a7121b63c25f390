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

/// Returns a rank's parameters of one kind (dense or expert) that Muon updates by orthogonalized
/// matrices, block by block.
std::vector<StoredParameter*> muon_parameters(RankState& rank, bool expert);

/// Runs the first stage of Muon: updates the momentum, and assigns each matrix to the rank that
/// orthogonalizes it. Returns the progress of the update. Fails with `kUnsupported` if the ranks
/// that share optimizer states would have unequal parts of the matrices.
MuonProgress& update_muon_momentum(RankState& rank, bool expert);
/// Runs Muon up to its second stage: this rank has the momentum of the matrices that it
/// orthogonalizes (as one tensor-parallel rank holds them). Returns the progress of the update.
MuonProgress& gather_muon_momentum(RankState& rank, bool expert);
/// Runs Muon up to its third stage: orthogonalizes this rank's matrices and scales them to updates.
/// Returns the progress of the update.
MuonProgress& orthogonalize_muon_updates(RankState& rank, bool expert);

/// Epsilon of Muon: small number added to a matrix norm before the matrix is divided by it.
inline constexpr double kMuonNormEpsilon = 1e-7;

/// Returns approximately the nearest matrix whose singular values are all 1, by Newton-Schulz
/// iterations.
at::Tensor nearest_orthogonal_matrix(const at::Tensor& matrix);

/// Returns the product that tensor-parallel ranks sum in a Newton-Schulz iteration. `rows_cut`:
/// `part` has some of the matrix's rows; false: some of its columns.
at::Tensor newton_schulz_product(const at::Tensor& part, bool rows_cut);
/// Returns the next value of `part` in a Newton-Schulz iteration, from the summed `product`.
at::Tensor newton_schulz_step(const at::Tensor& part, const at::Tensor& product, bool rows_cut);

/// Applies the Muon update of this step to one parameter.
void apply_muon_update(StoredParameter& parameter, RankState& rank,
                       const OptimizerUpdateInputs& rates);

}  // namespace stepwright::runtime
