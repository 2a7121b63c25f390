#pragma once

#include <vector>

#include "stepwright/runtime/kernels/update_rates.h"

namespace stepwright::runtime {

// Adafactor without a first moment and with the learning rate of the run, each matrix by itself:
// transformers/optimization.py, Adafactor(scale_parameter=False, relative_step=False, beta1=None)
// with its other defaults; weights decay as there. The second moment of a matrix is the product of
// the means of its rows and of its columns, over the mean of all (arXiv 1804.04235, algorithm 4).
//
// Each stage computes what those before it leave, once a step, so that messages between them find
// what they share, and nothing where there are none.

/// The trained parameters of a kind whose states are here, block by block, and those of them that
/// are matrices.
std::vector<StoredParameter*> own_of_kind(RankState& rank, bool expert);
std::vector<StoredParameter*> matrices_of_kind(RankState& rank, bool expert);

/// The means of squares of the rows and columns of each matrix, as far as this rank has them.
FactoredStep& with_sums(RankState& rank, bool expert);
/// Returns the step with the moments that follow from the sums.
FactoredStep& with_moments(RankState& rank, bool expert);
/// With the sum of squares of each update: of each matrix or vector, copy by copy.
FactoredStep& with_squares(RankState& rank, bool expert);

/// The update of a parameter.
void adafactor(StoredParameter& parameter, RankState& rank, const UpdateRates& rates);

}  // namespace stepwright::runtime
