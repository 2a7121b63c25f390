#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/packing/length_histogram.h"
#include "stepwright/packing/pack_documents.h"

namespace stepwright::packing {

/// To how many tokens sequences are filled up: all to the length of the job, those of a micro-batch
/// to the longest of them, or none.
enum class PadTo : std::uint8_t { kLength, kLongest, kNone };
inline constexpr Named<PadTo> kPadToNames[] = {
    {PadTo::kLength, "length"}, {PadTo::kLongest, "longest"}, {PadTo::kNone, "none"}};

/// Treatment of documents longer than a sequence: the job is refused, they are cut into sequences,
/// left out, or their first tokens alone are taken.
enum class TooLong : std::uint8_t { kRefuse, kSplit, kDrop, kTruncate };
inline constexpr Named<TooLong> kTooLongNames[] = {{TooLong::kRefuse, "refuse"},
                                                   {TooLong::kSplit, "split"},
                                                   {TooLong::kDrop, "drop"},
                                                   {TooLong::kTruncate, "truncate"}};

/// How the sequences of a step are dealt out to data-parallel ranks: as they come, or so that all
/// have as equal work as can be.
enum class Deal : std::uint8_t { kAsTheyCome, kByCost };
inline constexpr Named<Deal> kDealNames[] = {{Deal::kAsTheyCome, "none"}, {Deal::kByCost, "cost"}};

struct Packing {
  PackingKind kind = PackingKind::kNone;
  PackingOrder order = PackingOrder::kLongestFirst;  ///< Order of first fit.
  std::int64_t group = 0;  ///< Documents that first fit packs at a time, however full the last of
                           ///< their sequences is; 0: all.
  bool masks = true;       ///< Documents of a sequence see nothing of each other.
  PadTo pad_to = PadTo::kLength;
  TooLong too_long = TooLong::kRefuse;
  Deal balance = Deal::kAsTheyCome;
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

/// Statistics of packed sequences, from packing many with a seed.
struct Packs {
  LengthHistogram documents;  ///< Documents of one sequence, in the mean; at most 256 lengths.
  LengthHistogram fills;      ///< Tokens of documents in a sequence, and its share; as many.
  Moments tokens;             ///< Tokens of the documents of a sequence.
  Moments pairs;              ///< Query-key pairs of a sequence that causal masks of its documents
                              ///< leave.
  double too_long = 0;        ///< Share of the data's documents that were longer than a sequence.

  bool operator==(const Packs&) const = default;
};

/// The share of documents that are longer than `room`.
double share_beyond(const LengthHistogram& lengths, std::int64_t room);

/// Packs documents of these lengths into sequences of `room` tokens. All documents once where they
/// are few, else drawn in proportion, and in an order that the seed decides, as that of the result
/// is but for sorted ones. Throws `Error{kInput}` where documents are too long and that is to be
/// refused, and where nothing is left.
std::vector<Documents> packed_sequences(const LengthHistogram& lengths, const Packing& packing,
                                        std::int64_t room);

/// Packs documents as `packed_sequences` does, and returns statistics of the sequences.
Packs make_packs(const LengthHistogram& lengths, const Packing& packing, std::int64_t room);

/// Sequences of `tokens` of documents each, by the longest of `count` of them drawn by chance.
LengthHistogram longest_of(const LengthHistogram& fills, std::int64_t count);

/// Tokens that documents take where each is filled up to a multiple, over their own.
double padding_of(const LengthHistogram& documents, std::int64_t multiple);

/// Query-key pairs that a causal mask of a document leaves.
constexpr double causal_pairs(std::int64_t length) {
  const auto tokens = static_cast<double>(length);
  return tokens * (tokens + 1) / 2;
}

}  // namespace stepwright::packing
