#pragma once

namespace CLI {
class Validator;
}

namespace stepwright::runtime {

/// Takes an option's value where it is a whole number from 0 that fits in 64 bits, in decimal
/// digits; what reads options takes -1 and what is too large for the largest.
CLI::Validator whole_number();

}  // namespace stepwright::runtime
