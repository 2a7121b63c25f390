#pragma once

#include <string>

#include "stepwright/interleave/interleaving.h"

namespace stepwright::interleave {

/// Draws the blocks of an interleaved pair side by side: a row of computation and one of messages
/// for each link class that the pair uses, with ids. A block is as wide as its time, or as its ids
/// if those are wider; the row is blank after work that ends before its block. Lines have at most
/// `columns` columns.
std::string timeline_text(const StrandPair& pair, const Interleaving& interleaving,
                          const cost::Contention& contention, std::size_t columns = 100);

}  // namespace stepwright::interleave
