#include "stepwright/packing/micro_batches.h"

#include <cmath>

namespace stepwright::packing {
namespace {

/// Returns the moments of a function of a length drawn from shares.
template <class Function>
DistributionMoments moments_over(const LengthHistogram& shares, Function value) {
  DistributionMoments moments;
  const double all = total_document_count(shares);
  for (const auto& [length, share] : shares) moments.mean += value(length) * share / all;
  for (const auto& [length, share] : shares) {
    const double off = value(length) - moments.mean;
    moments.variance += off * off * share / all;
    moments.third += off * off * off * share / all;
  }
  return moments;
}

double relative_deviation(const DistributionMoments& moments) {
  return moments.mean > 0 ? std::sqrt(moments.variance) / moments.mean : 0;
}

double skewness(const DistributionMoments& moments) {
  return moments.variance > 0 ? moments.third / std::pow(moments.variance, 1.5) : 0;
}

}  // namespace

MicroBatchVariation micro_batch_spread(const PackingStatistics& packs, const Packing& packing,
                                       std::int64_t sequences) {
  const bool alone = packing.kind == PackingKind::kNone;
  const bool alike = packing.kind == PackingKind::kSorted;
  const bool to_longest = packing.pad_to == PaddingTarget::kLongest;
  const bool unfilled = packing.pad_to == PaddingTarget::kNone;
  if (alone && packing.pad_to == PaddingTarget::kLength) return {};
  const LengthHistogram longest = longest_sequence_distribution(packs.fills, alike ? 1 : sequences);
  const double root = alike ? 1 : std::sqrt(static_cast<double>(sequences));
  MicroBatchVariation spread;
  if (to_longest) {
    spread.tokens = relative_deviation(
        moments_over(longest, [](std::int64_t length) { return static_cast<double>(length); }));
  } else if (unfilled) {
    spread.tokens = relative_deviation(packs.tokens) / root;
  }
  const bool as_longest = alone && !unfilled;
  const DistributionMoments pairs =
      as_longest ? moments_over(longest, causal_attention_pairs) : packs.pairs;
  spread.pairs = relative_deviation(pairs) / (as_longest ? 1 : root);
  spread.skewness = skewness(pairs) / (as_longest ? 1 : root);
  if (spread.pairs > 0) {
    // The largest number of pairs: the sequence filled with the longest documents.
    const auto tokens = static_cast<double>(packs.fills.back().length);
    const auto document = static_cast<double>(packs.documents.back().length);
    spread.most = (tokens * (document + 1) / 2 / pairs.mean - 1) / spread.pairs;
  }
  return spread;
}

}  // namespace stepwright::packing
