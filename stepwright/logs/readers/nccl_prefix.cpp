#include "stepwright/logs/readers/nccl_prefix.h"

#include <cctype>

#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/record.h"

namespace stepwright::logs {
namespace {

bool is_host_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
}

std::optional<std::int64_t> number_before(std::string_view& text, char before) {
  std::size_t begin = text.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  const auto number = parse_whole_number(text.substr(begin));
  if (!number || begin == 0 || text[begin - 1] != before) return std::nullopt;
  text = text.substr(0, begin - 1);
  return number;
}

}  // namespace

std::optional<NcclProcessPrefix> nccl_process_prefix_at_end(std::string_view text) {
  NcclProcessPrefix prefix;
  const std::size_t bracket = text.rfind('[');
  if (!text.ends_with(']') || bracket == std::string_view::npos || bracket == 0)
    return std::nullopt;
  prefix.device =
      parse_whole_number(text.substr(bracket + 1, text.size() - bracket - 2)).value_or(kUnknown);
  text = text.substr(0, bracket);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto thread = number_before(text, ':');
  if (!thread) return std::nullopt;
  const auto pid = number_before(text, ':');
  if (!pid) return std::nullopt;
  prefix.pid = *pid;
  prefix.begin = text.size();
  while (prefix.begin > 0 && is_host_character(text[prefix.begin - 1])) --prefix.begin;
  prefix.host = text.substr(prefix.begin);
  if (prefix.host.empty()) return std::nullopt;
  return prefix;
}

}  // namespace stepwright::logs
