#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright {

/// How words of a file are read: one grammar for YAML and JSON, narrower than YAML's so that no two
/// readers disagree. Numbers are decimal (`-3`, `0.5`, `.5`, `40e6`): no hexadecimal, no octal, no
/// underscores, no leading zeros, no NaN and no infinity.
bool is_number(std::string_view word);

/// `true` or `false`, also capitalised or in capitals; nothing for any other word.
std::optional<bool> truth_of(std::string_view word);

/// An empty word, `~`, or `null`, also capitalised or in capitals.
bool is_null_word(std::string_view word);

/// Whether the word, written without quotes, is a number, a truth value or null.
bool reads_as_other_than_text(std::string_view word);

/// Whether text can stand in a YAML file without quotes, for any YAML reader.
bool is_plain_word(std::string_view text);

/// The result of reading a word as an integer.
struct IntegerReading {
  /// Why there is no value, or `kGood`.
  enum class Status : std::uint8_t { kGood, kNotANumber, kNotIntegral, kTooLarge };
  Status status = Status::kNotANumber;
  std::int64_t value = 0;
};

/// Reads an integer exactly, also one written as `40e6` or `1.5e3`.
IntegerReading read_integer(std::string_view word);

/// The nearest double; nothing when the word is no number or no finite, nonzero-preserving double
/// stands for it (`1e999`, `1e-999`).
std::optional<double> read_double(std::string_view word);

/// The shortest decimal that reads back as the same double. Fails with `kInput` when not finite.
std::string number_text(double number);

}  // namespace stepwright
