#pragma once

#include <string>

#include "stepwright/interleave/interleaving.h"

namespace stepwright::interleave {

/// Draws an interleaved forward and backward as text, one block beside the other: one row of
/// computation and one of messages for each link class, with operator ids. A block is as wide as
/// its time or its ids; a row is blank after work that ends before its block. Lines have at most
/// `columns` characters.
std::string interleaving_timeline_text(const ForwardBackwardOperators& pair,
                                       const LayerInterleaving& interleaving,
                                       const cost::OverlapSlowdownFactors& contention,
                                       std::size_t columns = 100);

}  // namespace stepwright::interleave
