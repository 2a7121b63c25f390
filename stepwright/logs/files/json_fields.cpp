#include "stepwright/logs/files/json_fields.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "stepwright/logs/record.h"

namespace stepwright::logs {
namespace {

namespace dom = simdjson::dom;

std::optional<std::int64_t> to_whole(const dom::element& value) {
  std::int64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS) return whole;
  double number = 0;
  if (value.get(number) == simdjson::SUCCESS && std::abs(number) < 9e18) {
    return static_cast<std::int64_t>(number);
  }
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return parse_whole_number(text);
  return std::nullopt;
}

}  // namespace

std::string_view json_text_field(const dom::element& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::string spelt(const dom::element& value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  dom::array list;
  if (value.get(list) != simdjson::SUCCESS) {
    return value.is_object() ? std::string() : std::string(simdjson::minify(value));
  }
  std::string joined;
  for (const dom::element item : list) {
    if (item.is_array() || item.is_object()) continue;
    joined += (joined.empty() ? "" : ", ") + std::string(simdjson::minify(item));
  }
  return "[" + joined + "]";
}

std::string json_field_as_written(const dom::element& object, std::string_view key) {
  dom::element value;
  return object[key].get(value) == simdjson::SUCCESS ? spelt(value) : std::string();
}

std::optional<std::int64_t> json_integer_field(const dom::element& object, std::string_view key) {
  dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return to_whole(value);
}

std::optional<std::int64_t> json_rank_number_field(const dom::element& object,
                                                   std::string_view key) {
  const auto whole = json_integer_field(object, key);
  return whole && *whole >= 0 && *whole <= kMaxJobRanks ? whole : std::nullopt;
}

std::optional<double> number_in(const dom::element& object, std::string_view key) {
  double number = 0;
  if (object[key].get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::optional<std::vector<std::int64_t>> json_integer_list_field(const dom::element& object,
                                                                 std::string_view key) {
  dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return integers_of(text);
  dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const dom::element item : list) {
    const auto whole = to_whole(item);
    if (!whole) return std::nullopt;
    numbers.push_back(*whole);
  }
  return numbers;
}

std::optional<std::vector<std::int64_t>> integers_of(std::string_view list) {
  if (!list.starts_with('[') || !list.ends_with(']')) return std::nullopt;
  list = list.substr(1, list.size() - 2);
  std::vector<std::int64_t> numbers;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    const auto whole = parse_whole_number(item);
    if (!whole) return std::nullopt;
    numbers.push_back(*whole);
  }
  return numbers;
}

std::optional<std::int64_t> parse_whole_number(std::string_view text) {
  std::int64_t whole = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return whole;
}

std::vector<std::int64_t> listed_ranks(const dom::element& group, std::string_view key) {
  auto ranks = json_integer_list_field(group, key).value_or(std::vector<std::int64_t>{});
  const auto strange = [](std::int64_t rank) { return rank < 0 || rank >= kMaxJobRanks; };
  if (std::ranges::any_of(ranks, strange)) ranks.clear();
  return ranks;
}

bool has_duplicate_key(const dom::element& value) {
  dom::array list;
  if (value.get(list) == simdjson::SUCCESS)
    return std::any_of(list.begin(), list.end(), has_duplicate_key);
  dom::object mapping;
  if (value.get(mapping) != simdjson::SUCCESS) return false;
  std::vector<std::string_view> keys;
  for (const auto [key, member] : mapping) {
    if (has_duplicate_key(member)) return true;
    keys.push_back(key);
  }
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

std::string_view find_json_member_without_parsing(std::string_view json,
                                                  std::string_view quoted_key) {
  std::size_t at = json.find(quoted_key);
  if (at == std::string_view::npos) return {};
  at = json.find_first_not_of(" \t\r\n:", at + quoted_key.size());
  if (at == std::string_view::npos) return {};
  if (json[at] == '"') return json.substr(at + 1, json.find('"', at + 1) - at - 1);
  return json.substr(at, json.find_first_of(",} \t\r\n", at) - at);
}

}  // namespace stepwright::logs
