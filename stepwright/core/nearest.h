#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stepwright {

/// Returns the number of edits between two words: a letter inserted, removed, replaced, or swapped
/// with its neighbour, no position twice (Damerau-Levenshtein, "optimal string alignment"). Upper
/// and lower case count as equal.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the known word that a misspelt word was probably meant to be: the one with the fewest
/// edits, at most a third of the length of `word` (one edit is always allowed); nullopt: no known
/// word is that near.
std::optional<std::string_view> nearest_known_word(std::string_view word,
                                                   std::span<const std::string_view> known);

/// Returns a hint for a message about an unknown word: "; did you mean 'dgx-a100-40g' or
/// 'dgx-a100-80g'?". Names up to three known words that begin with `word`, and a known word with
/// which `word` begins; else the nearest; else up to three that contain `word`. Empty: none.
std::string spelling_hint(std::string_view word, std::span<const std::string_view> known);

/// Returns the end of a message about an unknown word: a spelling hint and all known words. If
/// these are more than twelve, it names the three nearest, their number, and `all`, the command
/// that lists them ("stepwright list models").
std::string unknown_word_hint_text(std::string_view word, std::span<const std::string_view> known,
                                   std::string_view all);

/// Joins words with commas: `ring, tree, ho-ring`.
std::string join_with_commas(std::span<const std::string_view> words);

}  // namespace stepwright
