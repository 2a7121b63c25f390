#include "stepwright/core/nearest.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace stepwright {
namespace {

constexpr std::size_t kLongestWord = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool same(char a, char b) { return lower(a) == lower(b); }

/// Returns the known words that contain a word: `rtx-a6000` for `a6000`.
std::vector<std::string_view> holding(std::string_view word,
                                      std::span<const std::string_view> known) {
  constexpr std::size_t kShortestInside = 4;
  std::vector<std::string_view> all;
  if (word.size() < kShortestInside || word.size() > kLongestWord) return all;
  std::ranges::copy_if(known, std::back_inserter(all), [&](std::string_view candidate) {
    return std::search(candidate.begin(), candidate.end(), word.begin(), word.end(), same) !=
           candidate.end();
  });
  return all;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::optional<std::string_view> nearest_known_word(std::string_view word,
                                                   std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    if (candidate.size() > 2 * kLongestWord) continue;
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) >= fewest) continue;
    const std::size_t edits = edit_distance(word, candidate);
    if (edits >= fewest || edits >= longer) continue;
    best = candidate;
    fewest = edits;
  }
  return best;
}

std::string spelling_hint(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t kShortestBeginning = 3;
  constexpr std::size_t kMostHints = 3;
  std::vector<std::string_view> meant;
  for (const std::string_view candidate : known) {
    if (word.size() < kShortestBeginning || candidate.size() < word.size()) continue;
    if (std::equal(word.begin(), word.end(), candidate.begin(), same)) meant.push_back(candidate);
  }
  if (meant.size() > kMostHints) meant.clear();
  const auto near = nearest_known_word(word, known);
  if (near && (meant.empty() || (near->size() < word.size() && word.starts_with(*near)))) {
    meant.push_back(*near);
  }
  if (meant.empty()) meant = holding(word, known);
  if (meant.empty() || meant.size() > kMostHints) return "";
  std::string text;
  for (const std::string_view name : meant) {
    text += text.empty() ? "; did you mean '" : " or '";
    text += std::string(name) + "'";
  }
  return text + "?";
}

std::string unknown_word_hint_text(std::string_view word, std::span<const std::string_view> known,
                                   std::string_view all) {
  constexpr std::size_t kMostListed = 12;
  constexpr std::size_t kNearest = 3;
  std::string hint = spelling_hint(word, known);
  if (known.size() <= kMostListed) return hint + " (allowed: " + join_with_commas(known) + ")";
  if (hint.empty()) {
    std::vector<std::string_view> nearest_known_word(known.begin(), known.end());
    const std::string_view start = word.substr(0, kLongestWord);
    std::ranges::stable_sort(nearest_known_word, {},
                             [=](std::string_view one) { return edit_distance(start, one); });
    nearest_known_word.resize(kNearest);
    hint = "; the nearest are " + join_with_commas(nearest_known_word);
  }
  return hint + " (all " + std::to_string(known.size()) + ": " + std::string(all) + ")";
}

std::string join_with_commas(std::span<const std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) {
    if (!list.empty()) list += ", ";
    list += word;
  }
  return list;
}

}  // namespace stepwright
