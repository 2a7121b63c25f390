#pragma once

#include <string>
#include <vector>

namespace stepwright::answers {

/// Says that a word is none of the known ones, with these and the nearest to it; empty: it is one.
std::string unknown_word_text(const std::string& word, const std::vector<std::string>& known);

}  // namespace stepwright::answers
