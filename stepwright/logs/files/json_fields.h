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

/// Returns a member of a JSON object as text; empty if the object lacks it or it is no text.
std::string_view json_text_field(const simdjson::dom::element& object, std::string_view key);
/// Returns a member of a JSON object as text: a text as it is, a number as JSON, a list of texts
/// and numbers in brackets; empty for nested values and if the object lacks the member.
std::string json_field_as_written(const simdjson::dom::element& object, std::string_view key);
std::string spelt(const simdjson::dom::element& value);
/// Returns a member of a JSON object as a whole number, also one that is written as text or with a
/// decimal point; nullopt if it is absent or no whole number.
std::optional<std::int64_t> json_integer_field(const simdjson::dom::element& object,
                                               std::string_view key);
std::optional<double> number_in(const simdjson::dom::element& object, std::string_view key);

/// Returns a member of a JSON object that is a rank or a number of ranks; nullopt if it is absent,
/// no whole number, or more than a job can have (`kMaxJobRanks`).
std::optional<std::int64_t> json_rank_number_field(const simdjson::dom::element& object,
                                                   std::string_view key);

/// Returns a member of a JSON object that is a list of whole numbers, or a text that contains one
/// ("[0, 1]"); nullopt if an element is no number or the list is cut short by dots.
std::optional<std::vector<std::int64_t>> json_integer_list_field(
    const simdjson::dom::element& object, std::string_view key);
std::optional<std::vector<std::int64_t>> integers_of(std::string_view list);

/// Reads a text that is one whole number; nullopt if it is anything else.
std::optional<std::int64_t> parse_whole_number(std::string_view text);

/// Returns the ranks that a logged group lists under a key; empty if the list is absent or has
/// ranks that no job can have.
std::vector<std::int64_t> listed_ranks(const simdjson::dom::element& group, std::string_view key);

/// True if a JSON value, or a mapping inside it, has a key twice.
bool has_duplicate_key(const simdjson::dom::element& value);

/// Finds the first member with a key in a JSON text without parsing it, so that unneeded objects
/// can be skipped. Returns its value: a text without quotes, or a number; empty if absent.
/// `quoted_key`: the key with its quotes.
std::string_view find_json_member_without_parsing(std::string_view json,
                                                  std::string_view quoted_key);

}  // namespace stepwright::logs
