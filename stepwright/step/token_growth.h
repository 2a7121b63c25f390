#pragma once

#include "stepwright/step/program.h"

namespace stepwright::step {

/// The micro-batches with which it is told what more tokens or query-key pairs cost, in those of
/// the mean.
inline constexpr double kTokenGrowth = 1.25;

/// A template of micro-batches with so many times as many tokens: rows of computations and elements
/// of messages grow. What weights or the query-key pairs of documents decide stays.
Template with_tokens(Template piece, double factor);

/// A template of micro-batches whose documents have so many times as many query-key pairs in as
/// many tokens.
Template with_pairs(Template piece, double factor);

}  // namespace stepwright::step
