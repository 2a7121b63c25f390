#pragma once

#include "stepwright/step/program.h"

namespace stepwright::step {

/// Factor by which a mean micro-batch is enlarged to measure what more tokens, or more query-key
/// pairs, cost in time.
inline constexpr double kMicroBatchGrowthFactor = 1.25;

/// Returns a copy of a template (operators of a block in one direction) for micro-batches with
/// `factor` times as many tokens: rows of computations and elements of messages grow. Sizes that
/// depend on weights or on the query-key pairs of documents do not change.
OperatorTemplate scale_template_tokens(OperatorTemplate piece, double factor);

/// Returns a copy of a template (operators of a block in one direction) for micro-batches whose
/// documents have `factor` times as many query-key pairs in the same number of tokens.
OperatorTemplate scale_template_query_key_pairs(OperatorTemplate piece, double factor);

}  // namespace stepwright::step
