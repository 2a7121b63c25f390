#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright {

/// True if a word reads as a number in this project's YAML and JSON files: decimal (`-3`, `0.5`,
/// `.5`, `40e6`), without hexadecimal, octal, underscores, leading zeros, NaN or infinity. The
/// grammar is narrower than YAML's, so that all readers agree.
bool is_number(std::string_view word);

/// Reads a truth value: `true`, `True` or `TRUE`, or the same spellings of `false`; nullopt for any
/// other word.
std::optional<bool> parse_boolean_word(std::string_view word);

/// True if a word of a file stands for null: empty, `~`, `null`, `Null` or `NULL`.
bool is_null_word(std::string_view word);

/// True if a word of a file, written without quotes, reads as a number, a truth value or null
/// instead of text.
bool is_non_text_scalar(std::string_view word);

/// True if a text needs no quotes in YAML: every YAML reader reads it back as this text.
bool needs_no_yaml_quotes(std::string_view text);

/// Result of reading a word as an integer: a value, or why there is none.
struct IntegerParseResult {
  /// kGood: `value` was read; other values say why the word is no integer.
  enum class IntegerParseStatus : std::uint8_t { kGood, kNotANumber, kNotIntegral, kTooLarge };
  IntegerParseStatus status = IntegerParseStatus::kNotANumber;
  std::int64_t value = 0;
};

/// Reads an integer exactly from a word; `40e6` and `1.5e3` are also integers.
IntegerParseResult read_integer(std::string_view word);

/// Returns the double nearest to the number that a word states; nullopt if the word is no number,
/// too large for a double (`1e999`), or not 0 but so small that it would become 0 (`1e-999`).
std::optional<double> read_double(std::string_view word);

/// Returns the shortest decimal text that reads back as the same double. Fails with `kInput` if the
/// number is not finite.
std::string number_text(double number);

}  // namespace stepwright
