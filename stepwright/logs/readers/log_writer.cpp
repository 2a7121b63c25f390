#include "stepwright/logs/readers/log_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "stepwright/logs/files/json_fields.h"

namespace stepwright::logs {
namespace {

/// The most shares of all-to-alls with equal parts that one file may add; each is an entry in
/// memory.
constexpr std::int64_t kMostEqualParts = std::int64_t{1} << 26;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Returns the number whose digits begin at a position.
std::int64_t number_at(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return parse_whole_number(std::string_view(text).substr(at, end - at)).value_or(kUnknown);
}

}  // namespace

LogCallCollector::LogCallCollector(CommunicationLog& log, std::string file, LogFormat format)
    : log_(log), source_(log.sources.size()) {
  log.sources.push_back({.file = std::move(file), .format = format});
}

LogCallCollector::~LogCallCollector() {
  for (const LoggedCall& record : records_) log_.records.push_back(record);
}

std::int32_t LogCallCollector::communicator(const std::string& name, std::int64_t size,
                                            const std::vector<std::int64_t>& ranks) {
  const auto [place, fresh] =
      known_.try_emplace(name, static_cast<std::int32_t>(log_.communicators.size()));
  if (fresh) log_.communicators.push_back({.name = name, .size = 0, .ranks = {}});
  if (size > kMaxJobRanks) size = 0;
  LogCommunicator& found = communicator(place->second);
  if (found.size == 0) found.size = size > 0 ? size : std::ssize(ranks);
  if (found.ranks.empty()) found.ranks = ranks;
  return place->second;
}

LoggedCall& LogCallCollector::add(LoggedCall record) {
  record.source = static_cast<std::int32_t>(source_);
  return records_.emplace_back(record);
}

void LogCallCollector::add_all_to_all_parts(const LoggedCall& record,
                                            std::vector<std::int64_t> rows) {
  if (const std::int64_t size = group_size(record.communicator);
      rows.empty() && size <= kMaxCommunicatorRanksToFillIn) {
    equal_parts_ += size;
    if (equal_parts_ > kMostEqualParts) {
      return source().note(fmt::format(
          "All-to-alls of equal parts have more than {} parts; those of later calls are not known.",
          kMostEqualParts));
    }
    rows.assign(static_cast<std::size_t>(size), 1);
  }
  std::int64_t all = 0;
  for (const std::int64_t part : rows) {
    if (part < 0 || __builtin_add_overflow(all, part, &all)) return;
  }
  if (all < 1 || record.payload_bytes % all != 0) return;
  LoggedAllToAllParts exchange{.line = record.line,
                               .rank = record.rank,
                               .source = static_cast<std::int32_t>(source_),
                               .sent_bytes = std::move(rows)};
  for (std::int64_t& part : exchange.sent_bytes) part *= record.payload_bytes / all;
  log_.exchanges.push_back(std::move(exchange));
}

std::int64_t rank_in_file_name(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  std::size_t at = name.rfind("rank");
  if (at != std::string::npos) {
    at = name.find_first_not_of("rank_-.=", at);
    if (at != std::string::npos && is_digit(name[at])) return number_at(name, at);
  }
  const auto last = std::find_if(name.rbegin(), name.rend(), is_digit);
  if (last == name.rend()) return kUnknown;
  std::size_t begin = static_cast<std::size_t>(name.rend() - last) - 1;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  return number_at(name, begin);
}

}  // namespace stepwright::logs
