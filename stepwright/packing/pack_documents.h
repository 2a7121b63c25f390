#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright::packing {

/// How documents are packed into training sequences. kNone: one document each. kGreedy: in order of
/// arrival, closing a sequence when the next document does not fit. kFirstFit: into the first
/// sequence with room, longest document first by default. kSorted: greedy in ascending length, so
/// that neighbouring sequences are alike.
enum class PackingKind : std::uint8_t { kNone, kGreedy, kFirstFit, kSorted };
inline constexpr Named<PackingKind> kPackingKindNames[] = {{PackingKind::kNone, "none"},
                                                           {PackingKind::kGreedy, "greedy"},
                                                           {PackingKind::kFirstFit, "first-fit"},
                                                           {PackingKind::kSorted, "sorted"}};

/// The order in which first-fit packing places documents: the longest first, or in order of
/// arrival.
enum class PackingOrder : std::uint8_t { kLongestFirst, kAsTheyCome };
inline constexpr Named<PackingOrder> kPackingOrderNames[] = {
    {PackingOrder::kLongestFirst, "longest"}, {PackingOrder::kAsTheyCome, "arrival"}};

/// The lengths in tokens of the documents packed into one sequence.
using Documents = std::vector<std::int64_t>;

/// Packs documents into sequences of at most `room` tokens; no document may be longer. Returns the
/// sequences in the order in which they are opened. First-fit packing takes O(n log n).
std::vector<Documents> pack_documents(std::span<const std::int64_t> lengths, std::int64_t room,
                                      PackingKind kind,
                                      PackingOrder order = PackingOrder::kLongestFirst);

}  // namespace stepwright::packing
