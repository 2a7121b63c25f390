#pragma once

#include <vector>

#include "stepwright/runtime/kernels/update_rates.h"

namespace stepwright::runtime {

// Adafactor without a first moment and with the learning rate of the run, each matrix by itself:
// transformers/optimization.py, Adafactor(scale_parameter=False, relative_step=False, beta1=None)
// with its other defaults, including its weight decay. The second moment of a matrix is the product
// of the means of its rows and of its columns, over the mean of all (arXiv 1804.04235, algorithm
// 4).
//
// The functions below are stages: each runs the stages before it if they have not run in this step.
// Messages between stages thus find the values to share, and without messages all stages run at the
// update.

/// Returns a rank's trained parameters of one kind (dense or expert), block by block.
std::vector<StoredParameter*> trained_parameters_of_kind(RankState& rank, bool expert);
/// Returns a rank's trained matrices of one kind (dense or expert), block by block.
std::vector<StoredParameter*> trained_matrices_of_kind(RankState& rank, bool expert);

/// Runs the first stage of Adafactor: computes the mean squared gradient of each row and column of
/// each matrix, as far as this rank holds them. Returns the progress of the update.
AdafactorProgress& compute_row_column_means(RankState& rank, bool expert);
/// Runs Adafactor up to its second stage: updates the second moments of rows and columns. Returns
/// the progress of the update.
AdafactorProgress& update_row_column_moments(RankState& rank, bool expert);
/// Runs Adafactor up to its third stage: computes, for each matrix or vector (for experts: of each
/// expert), the sum of squares of its update. Returns the progress of the update.
AdafactorProgress& compute_update_square_sums(RankState& rank, bool expert);

/// Applies the Adafactor update of this step to one parameter.
void apply_adafactor_update(StoredParameter& parameter, RankState& rank,
                            const OptimizerUpdateInputs& rates);

}  // namespace stepwright::runtime
