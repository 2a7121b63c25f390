#pragma once

#include <string>
#include <vector>

namespace stepwright::answers {

/// Returns an error text for a word that is not among `known`, with the known words and the nearest
/// one; empty: the word is known.
std::string unknown_word_message(const std::string& word, const std::vector<std::string>& known);

}  // namespace stepwright::answers
