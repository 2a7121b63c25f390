#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright::packing {

/// How documents are packed into the sequences of a step. kNone: one document in each. kGreedy: in
/// order of arrival; a sequence is closed when the next document does not fit. kFirstFit: each
/// document goes into the first sequence that has room, the longest first unless the order says
/// otherwise (first-fit decreasing). kSorted: greedy in ascending length, so that neighbouring
/// sequences are alike.
enum class PackingKind : std::uint8_t { kNone, kGreedy, kFirstFit, kSorted };
inline constexpr Named<PackingKind> kPackingKindNames[] = {{PackingKind::kNone, "none"},
                                                           {PackingKind::kGreedy, "greedy"},
                                                           {PackingKind::kFirstFit, "first-fit"},
                                                           {PackingKind::kSorted, "sorted"}};

/// The order in which first fit packs documents: the longest first, or in order of arrival.
enum class PackingOrder : std::uint8_t { kLongestFirst, kAsTheyCome };
inline constexpr Named<PackingOrder> kPackingOrderNames[] = {
    {PackingOrder::kLongestFirst, "longest"}, {PackingOrder::kAsTheyCome, "arrival"}};

/// The lengths of the documents of one sequence.
using Documents = std::vector<std::int64_t>;

/// Packs documents into sequences of at most `room` tokens; no document may be longer. Returns
/// sequences in the order in which they are opened. First fit takes O(n log n).
std::vector<Documents> pack_documents(std::span<const std::int64_t> lengths, std::int64_t room,
                                      PackingKind kind,
                                      PackingOrder order = PackingOrder::kLongestFirst);

}  // namespace stepwright::packing
