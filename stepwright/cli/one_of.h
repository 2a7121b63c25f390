#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class Validator;
}

namespace stepwright::cli {

/// Takes an option's value where it is one of some words, in upper or lower case (`transform` gives
/// it the known spelling); fails with these, and with the nearest to what was given.
CLI::Validator one_of(std::vector<std::string> words);

/// Accepts one of these words, which take time to find: they are asked for when the option is given
/// or its help is written.
CLI::Validator one_of(std::function<std::vector<std::string>()> words);

}  // namespace stepwright::cli
