#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stepwright {

/// Returns the number of edits that turn one word into another: a letter inserted, removed,
/// replaced, or swapped with its neighbour, no position being edited twice (Damerau-Levenshtein,
/// "optimal string alignment"). Upper and lower case count as the same letter.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the known word that a misspelt `word` was probably meant to be: the first one with the
/// fewest edits, if they are at most a third of its length (one edit is always allowed). nullopt if
/// no word is that near.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known);

/// Returns a hint for a message about an unknown word: "; did you mean 'dgx-a100-40g' or
/// 'dgx-a100-80g'?". It names the known words that begin with `word` (if at most three) and a
/// shorter word that `word` begins with, else the nearest known word (`nearest`), else known words
/// that contain `word` (if at most three). Empty: there is no candidate.
std::string spelling_hint(std::string_view word, std::span<const std::string_view> known);

/// Returns the end of a message about an unknown word: a hint and all known words. If there are
/// more than twelve, it names the three nearest, their number and `all`, the command that lists
/// them ("stepwright list models").
std::string known_words(std::string_view word, std::span<const std::string_view> known,
                        std::string_view all);

/// Joins words with commas for a message: `ring, tree, ho-ring`.
std::string comma_list(std::span<const std::string_view> words);

}  // namespace stepwright
