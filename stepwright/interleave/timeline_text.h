#pragma once

#include <string>

#include "stepwright/interleave/interleaving.h"

namespace stepwright::interleave {

/// The blocks of an interleaved pair drawn side by side: a row of computation and one of messages
/// for each class of links that it has, with ids. A block is as wide as its time, or as its ids
/// where those are wider; of what ends before its block the rest is blank. Lines of at most
/// `columns`.
std::string timeline_text(const StrandPair& pair, const Interleaving& interleaving,
                          const cost::Contention& contention, std::size_t columns = 100);

}  // namespace stepwright::interleave
