#pragma once

#include <string>
#include <vector>

namespace CLI {
class Validator;
}

namespace stepwright {

/// Takes an option's value where it is one of some words; fails with these, and with the nearest to
/// what was given.
CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace stepwright
