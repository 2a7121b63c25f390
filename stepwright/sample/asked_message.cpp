#include "stepwright/sample/asked_message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/cost/profiles/measured_messages.h"

namespace stepwright::sample {
namespace {

constexpr double kMostBytes = 1e15;

std::vector<std::string_view> parts_of(std::string_view word, char between) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = word.find(between);
    parts.push_back(word.substr(0, end));
    if (end != std::string_view::npos) word.remove_prefix(end + 1);
  }
  return parts;
}

/// Reads a whole number from 1 on; 0: the text is none.
std::int64_t count_of(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() ? std::max<std::int64_t>(0, count)
                                                                  : 0;
}

/// Returns the enumerator of a word; `allowed`: further words for the error message.
template <std::size_t kCount, class EnumNamedByWord>
EnumNamedByWord choice(const Named<EnumNamedByWord> (&table)[kCount], std::string_view word,
                       std::string_view whole, std::vector<std::string_view> allowed = {}) {
  for (const auto& [value, name] : table) {
    if (name == word) return value;
    allowed.push_back(name);
  }
  fail_input(
      fmt::format("--message {}: '{}' must be one of {}", whole, word, fmt::join(allowed, ", ")));
}

}  // namespace

std::string message_option_text(const cost::MeasurablePlanMessage& message) {
  const std::string_view library =
      message.method ? name_of(collective::kCollectiveAlgorithmNames, *message.method)
                     : cost::kGlooLibraryName;
  return fmt::format("{}:{}:{}x{}:{:.0f}", library,
                     name_of(cost::kCollectiveNames, message.operation), message.group.nodes,
                     message.group.members, std::ceil(message.payload_bytes));
}

cost::MeasurablePlanMessage parse_message_option(std::string_view word) {
  const auto parts = parts_of(word, ':');
  const auto fail = [word](std::string_view why) {
    fail_input(fmt::format("--message {}: {}", word, why));
  };
  if (parts.size() != 4) fail("must be LIBRARY:OPERATION:NODESxRANKS:BYTES");
  cost::MeasurablePlanMessage message;
  if (parts[0] != cost::kGlooLibraryName) {
    message.method = choice(collective::kGeneratedCollectiveAlgorithmNames, parts[0], word,
                            {cost::kGlooLibraryName});
  }
  message.operation = choice(cost::kCollectiveNames, parts[1], word);
  if (message.method &&
      !collective::own_process_group_supports_algorithm(*message.method, message.operation)) {
    fail(fmt::format("{} does not run as {} here", parts[1], parts[0]));
  }
  const auto group = parts_of(parts[2], 'x');
  message.group.nodes = count_of(group.front());
  message.group.members = count_of(group.back());
  if (group.size() != 2 || message.group.nodes == 0 || message.group.members == 0 ||
      message.group.size() < 2) {
    fail(fmt::format("'{}' must be nodes x ranks of a node, at least 2 ranks", parts[2]));
  }
  message.payload_bytes = static_cast<double>(count_of(parts[3]));
  if (message.payload_bytes < 1 || message.payload_bytes > kMostBytes) {
    fail(fmt::format("'{}' must be bytes, 1 to {:g}", parts[3], kMostBytes));
  }
  return message;
}

}  // namespace stepwright::sample
