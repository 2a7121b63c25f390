#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class Validator;
}

namespace stepwright::cli {

/// Returns a validator that accepts one of the given words in upper or lower case and replaces it
/// by the known spelling. Its error lists the words and suggests the nearest.
CLI::Validator one_of(std::vector<std::string> words);

/// Returns a validator that accepts one of some words that take time to find. `words` is called
/// only when the option is given or its help is written.
CLI::Validator one_of(std::function<std::vector<std::string>()> words);

}  // namespace stepwright::cli
