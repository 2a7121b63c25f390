#pragma once

#include <string>
#include <vector>

namespace stepwright::answers {

/// Returns an error message for a word that is not among `known`, listing the known words and the
/// most similar one; empty: the word is known.
std::string unknown_word_message(const std::string& word, const std::vector<std::string>& known);

}  // namespace stepwright::answers
