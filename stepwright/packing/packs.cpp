#include "stepwright/packing/packs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"

namespace stepwright::packing {
namespace {

/// Number of sequences to pack, and the least and the most documents for them.
constexpr double kSequences = 2048;
constexpr double kFewest = 4096;
constexpr double kMost = 1 << 18;

/// Applies `rule` to documents that are longer than a sequence.
LengthHistogram within(const LengthHistogram& lengths, LongDocumentPolicy rule, std::int64_t room) {
  LengthHistogram kept;
  for (const DocumentLengthCount& each : lengths) {
    if (each.length <= room) {
      kept.push_back(each);
    } else if (rule == LongDocumentPolicy::kTruncate) {
      kept.push_back({room, each.count});
    } else if (rule == LongDocumentPolicy::kSplit) {
      kept.push_back({room, each.count * static_cast<double>(each.length / room)});
      if (each.length % room > 0) kept.push_back({each.length % room, each.count});
    }
  }
  return merge_equal_lengths(std::move(kept));
}

template <class T>
void shuffle(std::vector<T>& list, std::mt19937_64& random) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
}

/// Returns `documents` lengths in proportion to the histogram's counts, to the nearest document.
std::vector<std::int64_t> drawn_lengths(const LengthHistogram& lengths, double documents) {
  std::vector<std::int64_t> drawn;
  const double factor = documents / total_document_count(lengths);
  double due = 0;
  for (const auto& [length, count] : lengths) {
    due += count * factor;
    while (static_cast<double>(drawn.size()) + 0.5 < due) drawn.push_back(length);
  }
  return drawn;
}

/// True if the documents are a data set that is packed as a whole.
bool whole(const LengthHistogram& lengths) {
  const double all = total_document_count(lengths);
  return all >= kFewest && all <= kMost && std::ranges::all_of(lengths, [](const auto& each) {
           return each.count == std::floor(each.count);
         });
}

/// Returns the number of documents to draw: all of a small data set, else whole groups of documents
/// that are packed together.
double documents_to_draw(const LengthHistogram& lengths, const Packing& packing,
                         std::int64_t room) {
  const double all = total_document_count(lengths);
  if (whole(lengths)) return all;
  const double mean = total_tokens(lengths) / all;
  const double enough = std::clamp(kSequences * static_cast<double>(room) / mean, kFewest, kMost);
  if (packing.kind != PackingKind::kFirstFit || packing.group == 0) return enough;
  const auto group = static_cast<double>(packing.group);
  return group <= kMost ? std::ceil(enough / group) * group : enough;
}

/// Returns the number of documents that are packed together.
std::size_t together(const Packing& packing, std::size_t documents) {
  const bool grouped = packing.kind == PackingKind::kFirstFit && packing.group > 0;
  return grouped ? std::min(static_cast<std::size_t>(packing.group), documents) : documents;
}

/// Packs documents group by group.
std::vector<Documents> pack_groups(std::span<const std::int64_t> lengths, const Packing& packing,
                                   std::int64_t room) {
  std::vector<Documents> packs;
  const std::size_t group = together(packing, lengths.size());
  for (std::size_t first = 0; first < lengths.size(); first += group) {
    const auto part = lengths.subspan(first, std::min(group, lengths.size() - first));
    std::vector<Documents> more = pack_documents(part, room, packing.kind, packing.order);
    std::move(more.begin(), more.end(), std::back_inserter(packs));
  }
  return packs;
}

/// Joins neighbouring lengths until few are left; the number of tokens is unchanged.
LengthHistogram coarse(const LengthHistogram& fine) {
  constexpr std::size_t kMostLengths = 256;
  if (fine.size() <= kMostLengths) return fine;
  const double share = total_tokens(fine) / kMostLengths;
  LengthHistogram made;
  double tokens = 0;
  double count = 0;
  double due = share;
  double seen = 0;
  for (const DocumentLengthCount& each : fine) {
    tokens += static_cast<double>(each.length) * each.count;
    count += each.count;
    seen += static_cast<double>(each.length) * each.count;
    if (seen < due && &each != &fine.back()) continue;
    const auto length = std::max<std::int64_t>(1, std::llround(tokens / count));
    made.push_back({length, tokens / static_cast<double>(length)});
    tokens = count = 0;
    while (due <= seen) due += share;
  }
  return made;
}

/// Returns each length with its count over the number of sequences.
LengthHistogram histogram_of(std::vector<std::int64_t> lengths, std::size_t sequences) {
  std::ranges::sort(lengths);
  LengthHistogram histogram;
  const double share = 1 / static_cast<double>(sequences);
  for (std::size_t i = 0; i < lengths.size();) {
    std::size_t end = i;
    while (end < lengths.size() && lengths[end] == lengths[i]) ++end;
    histogram.push_back({lengths[i], static_cast<double>(end - i) * share});
    i = end;
  }
  return coarse(histogram);
}

DistributionMoments moments_of(const std::vector<double>& values) {
  DistributionMoments moments;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) moments.mean += value / n;
  for (const double value : values) {
    const double off = value - moments.mean;
    moments.variance += off * off / n;
    moments.third += off * off * off / n;
  }
  return moments;
}

/// Returns the statistics of packed sequences.
PackingStatistics summary(const std::vector<Documents>& packs) {
  std::vector<std::int64_t> documents;
  std::vector<std::int64_t> fills;
  std::vector<double> tokens;
  std::vector<double> pairs;
  for (const Documents& pack : packs) {
    documents.insert(documents.end(), pack.begin(), pack.end());
    fills.push_back(std::accumulate(pack.begin(), pack.end(), std::int64_t{0}));
    tokens.push_back(static_cast<double>(fills.back()));
    pairs.push_back(0);
    for (const std::int64_t length : pack) pairs.back() += causal_attention_pairs(length);
  }
  return {.documents = histogram_of(std::move(documents), packs.size()),
          .fills = histogram_of(std::move(fills), packs.size()),
          .tokens = moments_of(tokens),
          .pairs = moments_of(pairs)};
}

}  // namespace

double document_share_longer_than(const LengthHistogram& lengths, std::int64_t room) {
  double beyond = 0;
  for (const auto& [length, count] : lengths) beyond += length > room ? count : 0;
  return beyond / total_document_count(lengths);
}

std::vector<Documents> packed_sequences(const LengthHistogram& lengths, const Packing& packing,
                                        std::int64_t room) {
  const double beyond = document_share_longer_than(lengths, room);
  if (beyond > 0 && packing.too_long == LongDocumentPolicy::kRefuse) {
    fail_input(
        fmt::format("{:.3g} % of the documents are longer than {} tokens (the longest has {}): "
                    "state with packing.too_long whether to split, truncate or drop them",
                    100 * beyond, format_count(room), format_count(lengths.back().length)));
  }
  const LengthHistogram kept = within(lengths, packing.too_long, room);
  if (kept.empty()) {
    fail_input(
        fmt::format("every document is longer than {} tokens, and dropped", format_count(room)));
  }
  std::mt19937_64 random(static_cast<std::uint64_t>(packing.seed));
  std::vector<std::int64_t> drawn = drawn_lengths(kept, documents_to_draw(kept, packing, room));
  shuffle(drawn, random);
  std::vector<Documents> packs = pack_groups(drawn, packing, room);
  // If documents were drawn, the last sequence is only partly filled because drawing ended.
  const bool at_once = together(packing, drawn.size()) == drawn.size();
  const bool unfilled = packing.kind != PackingKind::kNone && !whole(kept) && at_once;
  if (unfilled && packs.size() > 1) packs.pop_back();
  if (packing.kind != PackingKind::kSorted) shuffle(packs, random);
  if (!packing.masks) {
    for (Documents& pack : packs) {
      pack = {std::accumulate(pack.begin(), pack.end(), std::int64_t{0})};
    }
  }
  return packs;
}

PackingStatistics packed_sequence_statistics(const LengthHistogram& lengths, const Packing& packing,
                                             std::int64_t room) {
  PackingStatistics made = summary(packed_sequences(lengths, packing, room));
  made.too_long = document_share_longer_than(lengths, room);
  return made;
}

LengthHistogram longest_sequence_distribution(const LengthHistogram& fills, std::int64_t count) {
  LengthHistogram longest;
  double below = 0;
  double before = 0;
  for (const auto& [tokens, share] : fills) {
    below = std::min(1.0, below + share);
    const double all = std::pow(below, static_cast<double>(count));
    if (all > before) longest.push_back({tokens, all - before});
    before = all;
  }
  return longest;
}

double document_padding_factor(const LengthHistogram& documents, std::int64_t multiple) {
  double padded = 0;
  for (const auto& [length, count] : documents) {
    padded += static_cast<double>((length + multiple - 1) / multiple * multiple) * count;
  }
  return padded / total_tokens(documents);
}

}  // namespace stepwright::packing
