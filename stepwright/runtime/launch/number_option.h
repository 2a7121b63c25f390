#pragma once

#include <cstdint>
#include <limits>

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 gave itself
class Validator;
}

namespace stepwright::runtime {

/// Longest timeout, in seconds, that a command-line option accepts: one week.
inline constexpr double kMaxTimeoutSeconds = 7 * 86'400.0;

/// Range of numbers that a command-line option accepts. Every option with a number has one, because
/// CLI11 alone accepts NaN, infinity, hexadecimal digits and numbers that do not fit.
struct OptionNumberRange {
  double low = 0;
  double high = 0;
  /// True if the option's value must be above `low`; false: `low` itself is allowed.
  bool above = false;
};

/// Returns a validator that accepts a finite number in this range, written as in files: `0.5`,
/// `40e6`. Its error names the value and the range.
CLI::Validator number_range_validator(const OptionNumberRange& range);

/// Returns a validator that accepts a whole number from `low` to `high`, in decimal digits.
CLI::Validator whole_number_validator(std::int64_t low, std::int64_t high);
/// Returns a validator that accepts any whole number that fits 64 bits without a sign.
CLI::Validator whole_number_validator();
/// Returns a validator that accepts a number of tokens or sequences from `low` to `high`, also
/// written as `4k` (`read_count`). With CLI11's `transform`, it replaces the option's value by
/// digits.
CLI::Validator token_count_validator(std::int64_t low, std::int64_t high);

}  // namespace stepwright::runtime
