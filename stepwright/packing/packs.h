#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/packing/length_histogram.h"
#include "stepwright/packing/pack_documents.h"

namespace stepwright::packing {

/// The length to which sequences are padded: all to the job's length, those of a micro-batch to its
/// longest one, or not at all.
enum class PaddingTarget : std::uint8_t { kLength, kLongest, kNone };
inline constexpr Named<PaddingTarget> kPaddingTargetNames[] = {{PaddingTarget::kLength, "length"},
                                                               {PaddingTarget::kLongest, "longest"},
                                                               {PaddingTarget::kNone, "none"}};

/// Treatment of documents longer than a sequence: the job is refused, they are split over
/// sequences, dropped, or truncated to their first tokens.
enum class LongDocumentPolicy : std::uint8_t { kRefuse, kSplit, kDrop, kTruncate };
inline constexpr Named<LongDocumentPolicy> kLongDocumentPolicyNames[] = {
    {LongDocumentPolicy::kRefuse, "refuse"},
    {LongDocumentPolicy::kSplit, "split"},
    {LongDocumentPolicy::kDrop, "drop"},
    {LongDocumentPolicy::kTruncate, "truncate"}};

/// How the sequences of a step are distributed over data-parallel ranks: in order of arrival, or so
/// that all ranks have as equal work as possible.
enum class SequenceDealing : std::uint8_t { kAsTheyCome, kByCost };
inline constexpr Named<SequenceDealing> kSequenceDealingNames[] = {
    {SequenceDealing::kAsTheyCome, "none"}, {SequenceDealing::kByCost, "cost"}};

struct Packing {
  PackingKind kind = PackingKind::kNone;
  PackingOrder order = PackingOrder::kLongestFirst;  ///< Order in which first fit packs documents.
  /// Number of documents that first fit packs together, however full the last sequence of a group
  /// is; 0: all.
  std::int64_t group = 0;
  bool masks = true;  ///< True if documents in one sequence do not attend to each other.
  PaddingTarget pad_to = PaddingTarget::kLength;
  LongDocumentPolicy too_long = LongDocumentPolicy::kRefuse;
  SequenceDealing balance = SequenceDealing::kAsTheyCome;
  std::int64_t seed = 0;
  bool operator==(const Packing&) const = default;
};

/// Mean, variance and third central moment of a quantity.
struct Moments {
  double mean = 0;
  double variance = 0;
  double third = 0;
  bool operator==(const Moments&) const = default;
};

/// Statistics of packed sequences, found by packing many of them from a random seed.
struct PackingStatistics {
  LengthHistogram documents;  ///< Mean documents of one sequence, by length; at most 256 lengths.
  /// Tokens of documents in a sequence, with the share of sequences that have that many; at most
  /// 256 lengths.
  LengthHistogram fills;
  Moments tokens;  ///< Moments of the tokens of documents in a sequence.
  /// Moments of the query-key pairs of a sequence under causal masks for each document.
  Moments pairs;
  double too_long = 0;  ///< Share of the data's documents that were longer than a sequence.

  bool operator==(const PackingStatistics&) const = default;
};

/// Returns the share of documents that are longer than `room`.
double share_longer_than(const LengthHistogram& lengths, std::int64_t room);

/// Packs documents of these lengths into sequences of `room` tokens. A small data set is packed
/// once as a whole; of a large one, documents are drawn in proportion to their counts.
/// `Packing::seed` decides the order of the documents and of the result (sorted packing keeps its
/// order). Throws `Error{kInput}` if documents are too long and must be refused, and if no document
/// is left.
std::vector<Documents> packed_sequences(const LengthHistogram& lengths, const Packing& packing,
                                        std::int64_t room);

/// Packs documents as `packed_sequences` does, and returns statistics of the sequences.
PackingStatistics pack_with_statistics(const LengthHistogram& lengths, const Packing& packing,
                                       std::int64_t room);

/// Returns the distribution of the longest of `count` sequences drawn at random from `fills`.
LengthHistogram longest_of(const LengthHistogram& fills, std::int64_t count);

/// Returns the tokens of documents that are each padded to a multiple, over their own tokens.
double padding_overhead(const LengthHistogram& documents, std::int64_t multiple);

/// Returns the query-key pairs that a causal mask leaves of a document.
constexpr double causal_pairs(std::int64_t length) {
  const auto tokens = static_cast<double>(length);
  return tokens * (tokens + 1) / 2;
}

}  // namespace stepwright::packing
