#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simdjson::dom {
class element;
class parser;
}  // namespace simdjson::dom

namespace stepwright::logs {

// What a reader asks of a JSON mapping that somebody else wrote: another type than the expected one
// is as good as absent.

/// A text; empty when absent.
std::string_view text_in(const simdjson::dom::element& object, std::string_view key);
/// A text as it is, a number as JSON, a list of these in brackets; empty for what holds more and
/// when absent.
std::string spelt_in(const simdjson::dom::element& object, std::string_view key);
std::string spelt(const simdjson::dom::element& value);
/// A whole number, also where it is spelt as a text or as a number with a point.
std::optional<std::int64_t> integer_in(const simdjson::dom::element& object, std::string_view key);
std::optional<double> number_in(const simdjson::dom::element& object, std::string_view key);

/// The number of ranks of a job or group, or a rank; nothing where no job has so many.
std::optional<std::int64_t> ranks_in(const simdjson::dom::element& object, std::string_view key);

/// Whole numbers of a list, or of a text that holds one ("[0, 1]"); nothing when one of them is no
/// number or the list is cut short by dots.
std::optional<std::vector<std::int64_t>> integers_in(const simdjson::dom::element& object,
                                                     std::string_view key);
std::optional<std::vector<std::int64_t>> integers_of(std::string_view list);

/// A number as a text spells it, all of it.
std::optional<std::int64_t> to_integer(std::string_view text);

/// The ranks that a group lists; empty where they are not such as a job has.
std::vector<std::int64_t> listed_ranks(const simdjson::dom::element& group, std::string_view key);

/// Whether a mapping in a value, or itself, has a key twice.
bool repeats_key(const simdjson::dom::element& value);

/// The value of the first member of that key in a text of JSON, found without parsing it: a text
/// without its quotes or a number; empty when absent. For leaving out what nobody needs.
std::string_view glimpse(std::string_view json, std::string_view quoted_key);

}  // namespace stepwright::logs
