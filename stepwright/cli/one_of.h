#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class Validator;
}

namespace stepwright::cli {

/// Returns a validator that accepts one of these words in upper or lower case, and replaces it by
/// the spelling given here. Its error lists the words and suggests the nearest one.
CLI::Validator one_of_words_validator(std::vector<std::string> words);

/// Returns a validator that accepts one of some words that take time to find: `words`, which
/// returns them, is called only if the option is given or its help is written.
CLI::Validator one_of_words_validator(std::function<std::vector<std::string>()> words);

}  // namespace stepwright::cli
