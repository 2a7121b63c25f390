#include "stepwright/runtime/launch/number_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "stepwright/core/count.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"

namespace stepwright::runtime {
namespace {

/// Returns a bound in few plain characters: "0.001", "86400", "1e9".
std::string bound_text(double bound) {
  std::string plain = fmt::format("{}", bound);
  constexpr double kLong = 1e7;
  if (std::abs(bound) < kLong) return plain;
  std::string power = fmt::format("{:e}", bound);
  const std::size_t mark = power.find('e');
  std::string digits = power.substr(0, mark);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  const std::string few = digits + "e" + power.substr(power.find_first_not_of("e+0", mark));
  return few.size() < plain.size() && read_double(few) == bound ? few : plain;
}

std::string range_text(const OptionNumberRange& range) {
  if (range.above) {
    return fmt::format("above {}, at most {}", bound_text(range.low), bound_text(range.high));
  }
  return fmt::format("from {} to {}", bound_text(range.low), bound_text(range.high));
}

template <class Whole>
CLI::Validator whole_in(Whole low, Whole high, const std::string& described) {
  const auto fault = [low, high](const std::string& given) -> std::string {
    Whole number = 0;
    const char* end = given.data() + given.size();
    const auto [read, error] = std::from_chars(given.data(), end, number);
    if (error == std::errc() && read == end && number >= low && number <= high) return "";
    return fmt::format("must be a whole number from {} to {}; it is '{}'", low, high,
                       one_line_printable_text(given));
  };
  return {fault, described};
}

}  // namespace

CLI::Validator number_range_validator(const OptionNumberRange& range) {
  const auto fault = [range](const std::string& given) -> std::string {
    const std::optional<double> number = read_double(given);
    if (number && (range.above ? *number > range.low : *number >= range.low) &&
        *number <= range.high) {
      return "";
    }
    return fmt::format("must be a number {}; it is '{}'", range_text(range),
                       one_line_printable_text(given));
  };
  return {fault, fmt::format("FLOAT in {}{} - {}]", range.above ? '(' : '[', bound_text(range.low),
                             bound_text(range.high))};
}

CLI::Validator whole_number_validator(std::int64_t low, std::int64_t high) {
  return whole_in(low, high, fmt::format("INT in [{} - {}]", low, high));
}

CLI::Validator whole_number_validator() {
  return whole_in(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), "");
}

CLI::Validator token_count_validator(std::int64_t low, std::int64_t high) {
  const auto fault = [low, high](std::string& given) -> std::string {
    const IntegerParseResult read = read_batch_or_sequence_size(given);
    const bool good = read.status == IntegerParseResult::IntegerParseStatus::kGood;
    if (!good || read.value < low || read.value > high) {
      return fmt::format("must be a whole number from {} to {}, also as 4k; it is '{}'", low, high,
                         one_line_printable_text(given));
    }
    given = std::to_string(read.value);
    return "";
  };
  return {fault, fmt::format("INT in [{} - {}]", low, high)};
}

}  // namespace stepwright::runtime
