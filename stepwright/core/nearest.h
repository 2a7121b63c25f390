#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stepwright {

/// Edits that turn one word into another: a letter inserted, removed, replaced, or swapped with its
/// neighbour, no place being edited twice (Damerau-Levenshtein, "optimal string alignment"). Upper
/// and lower case are the same letter.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word that a misspelt one was meant to be: the first of those with the fewest edits, if
/// they are at most a third of its length (but one is always allowed). Nothing when all are
/// farther.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known);

/// A hint for the message that a word is unknown: "; did you mean 'dgx-a100-40g' or
/// 'dgx-a100-80g'?". The known words that it begins, if they are at most three, and the nearest,
/// with them only if the word begins with it; else up to three that hold it. Empty: none is near.
std::string hint_of(std::string_view word, std::span<const std::string_view> known);

/// Returns the end of a message about an unknown word: a hint and all known words. Where the known
/// words are more than twelve, it names the three nearest, their number and `all`, the command that
/// lists them ("stepwright list models").
std::string known_words(std::string_view word, std::span<const std::string_view> known,
                        std::string_view all);

/// Words for a message: `ring, tree, ho-ring`.
std::string list_of(std::span<const std::string_view> words);

}  // namespace stepwright
