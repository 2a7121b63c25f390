#pragma once

#include <cstdint>
#include <limits>

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 gave itself
class Validator;
}

namespace stepwright::runtime {

/// The longest time that an option lets a program wait, in seconds: a week.
inline constexpr double kLongestWait = 7 * 86'400.0;

/// The range of numbers that an option accepts. Every option with a number has one: without it the
/// option parser accepts NaN, infinity, hexadecimal digits, and numbers that do not fit.
struct NumberRange {
  double low = 0;
  double high = 0;
  bool above = false;  ///< True if `low` itself is refused.
};

/// Accepts an option's value if it is a finite number in this range, written as in files: `0.5`,
/// `40e6`. The error message names the value and the range.
CLI::Validator number_in(const NumberRange& range);

/// Accepts an option's value if it is a whole number from `low` to `high`, in decimal digits.
CLI::Validator whole_number(std::int64_t low, std::int64_t high);
/// Accepts an option's value if it is a whole number that fits 64 bits without a sign.
CLI::Validator whole_number();
/// Accepts a number of tokens or sequences from `low` to `high`, also written as `4k`
/// (`read_count`). For `transform`: the option's value becomes digits.
CLI::Validator count_in(std::int64_t low, std::int64_t high);

}  // namespace stepwright::runtime
