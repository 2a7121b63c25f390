#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/packing/length_histogram.h"
#include "stepwright/packing/pack_documents.h"

namespace stepwright::packing {

/// The length to which packed sequences are padded: the job's sequence length, the longest sequence
/// of the micro-batch, or no padding.
enum class PaddingTarget : std::uint8_t { kLength, kLongest, kNone };
inline constexpr Named<PaddingTarget> kPaddingTargetNames[] = {{PaddingTarget::kLength, "length"},
                                                               {PaddingTarget::kLongest, "longest"},
                                                               {PaddingTarget::kNone, "none"}};

/// Treatment of documents longer than a sequence: the job is refused, or they are split over
/// sequences, dropped, or truncated.
enum class LongDocumentPolicy : std::uint8_t { kRefuse, kSplit, kDrop, kTruncate };
inline constexpr Named<LongDocumentPolicy> kLongDocumentPolicyNames[] = {
    {LongDocumentPolicy::kRefuse, "refuse"},
    {LongDocumentPolicy::kSplit, "split"},
    {LongDocumentPolicy::kDrop, "drop"},
    {LongDocumentPolicy::kTruncate, "truncate"}};

/// How the sequences of a step are distributed over data-parallel ranks: in order of arrival, or so
/// that all ranks have about equal work.
enum class SequenceToRankAssignment : std::uint8_t { kAsTheyCome, kByCost };
inline constexpr Named<SequenceToRankAssignment> kSequenceDealingNames[] = {
    {SequenceToRankAssignment::kAsTheyCome, "none"}, {SequenceToRankAssignment::kByCost, "cost"}};

struct Packing {
  PackingKind kind = PackingKind::kNone;
  /// Order in which first-fit packing places documents.
  PackingOrder order = PackingOrder::kLongestFirst;
  /// Number of documents that first-fit packing handles at a time; the last sequence of each such
  /// group may stay partly empty; 0: all documents at once.
  std::int64_t group = 0;
  bool masks = true;  ///< True if attention is masked between different documents of one sequence.
  PaddingTarget pad_to = PaddingTarget::kLength;
  LongDocumentPolicy too_long = LongDocumentPolicy::kRefuse;
  SequenceToRankAssignment balance = SequenceToRankAssignment::kAsTheyCome;
  std::int64_t seed = 0;
  bool operator==(const Packing&) const = default;
};

/// Mean, variance and third central moment of a random quantity.
struct DistributionMoments {
  double mean = 0;
  double variance = 0;
  double third = 0;
  bool operator==(const DistributionMoments&) const = default;
};

/// Statistics of packed sequences, from packing many documents with a random seed.
struct PackingStatistics {
  /// Mean number of documents in one sequence, by their length; at most 256 lengths.
  LengthHistogram documents;
  /// Distribution of the number of document tokens (without padding) in a sequence; counts are
  /// shares of sequences; at most 256 lengths.
  LengthHistogram fills;
  /// Moments of the number of document tokens (without padding) in a sequence.
  DistributionMoments tokens;
  /// Moments of the number of query-key pairs in a sequence, if each document has its own causal
  /// mask.
  DistributionMoments pairs;
  double too_long = 0;  ///< Share of the data set's documents that were longer than a sequence.

  bool operator==(const PackingStatistics&) const = default;
};

/// Returns the share of a data set's documents that are longer than `room` tokens.
double document_share_longer_than(const LengthHistogram& lengths, std::int64_t room);

/// Packs documents of the given lengths into sequences of `room` tokens. A small data set is packed
/// once as a whole; from a large one, documents are drawn at random. `Packing::seed` decides the
/// order of documents and sequences. Fails with `kInput` if documents are too long and must be
/// refused, or if none is left.
std::vector<Documents> packed_sequences(const LengthHistogram& lengths, const Packing& packing,
                                        std::int64_t room);

/// Packs documents of the given lengths into sequences of `room` tokens, and returns statistics of
/// the sequences.
PackingStatistics packed_sequence_statistics(const LengthHistogram& lengths, const Packing& packing,
                                             std::int64_t room);

/// Returns the distribution of the length of the longest of `count` sequences that are drawn at
/// random from `fills`.
LengthHistogram longest_sequence_distribution(const LengthHistogram& fills, std::int64_t count);

/// Returns the factor by which padding each document to a multiple of `multiple` tokens increases
/// the number of tokens.
double document_padding_factor(const LengthHistogram& documents, std::int64_t multiple);

/// Returns the number of query-key pairs of a document under a causal mask: n (n + 1) / 2 for n
/// tokens.
constexpr double causal_attention_pairs(std::int64_t length) {
  const auto tokens = static_cast<double>(length);
  return tokens * (tokens + 1) / 2;
}

}  // namespace stepwright::packing
