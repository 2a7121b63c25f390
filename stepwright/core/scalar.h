#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright {

/// True if a word of a file reads as a number. One grammar serves YAML and JSON, narrower than
/// YAML's so that all readers agree. Numbers are decimal (`-3`, `0.5`, `.5`, `40e6`): no
/// hexadecimal, no octal, no underscores, no leading zeros, no NaN and no infinity.
bool is_number(std::string_view word);

/// Reads a truth value: `true`, `True` or `TRUE`, or the same forms of `false`; nullopt for any
/// other word.
std::optional<bool> parse_boolean_word(std::string_view word);

/// True if a word is empty, `~`, `null`, `Null` or `NULL`.
bool is_null_word(std::string_view word);

/// True if the word, written without quotes, reads as a number, a truth value or null.
bool is_non_text_scalar(std::string_view word);

/// True if every YAML reader takes the text as this text when it is written without quotes.
bool is_plain_word(std::string_view text);

/// The result of reading a word as an integer.
struct IntegerParseResult {
  /// Why `value` was not read; kGood: it was.
  enum class Status : std::uint8_t { kGood, kNotANumber, kNotIntegral, kTooLarge };
  Status status = Status::kNotANumber;
  std::int64_t value = 0;
};

/// Reads an integer exactly, also one written as `40e6` or `1.5e3`.
IntegerParseResult read_integer(std::string_view word);

/// Returns the double nearest to a number; nullopt if the word is no number, too large for a double
/// (`1e999`), or not 0 but so small that it would become 0 (`1e-999`).
std::optional<double> read_double(std::string_view word);

/// Returns the shortest decimal that reads back as the same double. Fails with `kInput` if it is
/// not finite.
std::string number_text(double number);

}  // namespace stepwright
