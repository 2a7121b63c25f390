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

/// Return the trained parameters of a kind whose states are on this rank, block by block
/// (`own_of_kind`), and the matrices among them (`matrices_of_kind`).
std::vector<StoredParameter*> own_of_kind(RankState& rank, bool expert);
std::vector<StoredParameter*> matrices_of_kind(RankState& rank, bool expert);

/// Returns the step with the means of squares of the rows and columns of each matrix, as far as
/// this rank has them.
FactoredStep& with_sums(RankState& rank, bool expert);
/// Returns the step with the moments computed from these sums.
FactoredStep& with_moments(RankState& rank, bool expert);
/// Returns the step with the sum of squares of the update of each matrix or vector, copy by copy.
FactoredStep& with_squares(RankState& rank, bool expert);

/// Updates a parameter by Adafactor.
void adafactor(StoredParameter& parameter, RankState& rank, const UpdateRates& rates);

}  // namespace stepwright::runtime
