#include "stepwright/core/count.h"

#include <fmt/format.h>

#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

/// Returns the factor of the suffix at the end of a count (1024 for `k`); 1: no suffix.
std::int64_t factor_of(std::string_view word) {
  constexpr std::int64_t kKibi = 1024;
  if (word.ends_with('k') || word.ends_with('K')) return kKibi;
  return word.ends_with('M') ? kKibi * kKibi : 1;
}

}  // namespace

IntegerParseResult read_batch_or_sequence_size(std::string_view word) {
  const std::int64_t factor = factor_of(word);
  if (factor == 1) return read_integer(word);
  IntegerParseResult read = read_integer(word.substr(0, word.size() - 1));
  const bool good = read.status == IntegerParseResult::IntegerParseStatus::kGood;
  if (good && __builtin_mul_overflow(read.value, factor, &read.value)) {
    read.status = IntegerParseResult::IntegerParseStatus::kTooLarge;
  }
  return read;
}

std::int64_t read_batch_or_sequence_size(DocumentNode node, std::int64_t low, std::int64_t high) {
  if (!node.is_scalar() || node.is_number()) return node.integer(low, high);
  const std::string word = node.text();
  const IntegerParseResult read = read_batch_or_sequence_size(word);
  if (factor_of(word) == 1 || read.status == IntegerParseResult::IntegerParseStatus::kNotANumber) {
    return node.integer(low, high);
  }
  const bool good = read.status == IntegerParseResult::IntegerParseStatus::kGood;
  if (good && read.value >= low && read.value <= high) return read.value;
  node.fail(fmt::format("must be an integer from {} to {}; it is '{}' (k: 1,024; M: 1,048,576)",
                        low, high, one_line_printable_text(word)));
}

}  // namespace stepwright
