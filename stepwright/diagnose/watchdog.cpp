#include "stepwright/diagnose/watchdog.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {

std::optional<WatchdogTimeout> read_watchdog_timeout(std::string_view line) {
  if (!line_contains_text(line, "WorkNCCL(") || !line_contains_text(line, "ran for"))
    return std::nullopt;
  const std::string_view work = text_after(line, "WorkNCCL(");
  WatchdogTimeout out{.rank = whole_number_at_text_start(text_after(line, "[Rank ")),
                      .elements = whole_number_at_text_start(text_after(work, "NumelIn=")),
                      .limit_ms = whole_number_at_text_start(text_after(work, "Timeout(ms)="))};
  RankCommunicationCall& call = out.call;
  call.sequence = whole_number_at_text_start(text_after(work, "SeqNum="));
  call.operation = text_after(work, "OpType=");
  call.operation.resize(std::min(call.operation.find_first_of(",)"), call.operation.size()));
  const std::string_view shape = text_between(work, "TensorShape=[", "]");
  const bool uneven = line_contains_text(call.operation, "ALLTOALL") ||
                      line_contains_text(call.operation, "GATHER") ||
                      line_contains_text(call.operation, "SCATTER") ||
                      line_contains_text(call.operation, "COALESCED");
  if (!uneven && out.elements >= 0) call.sizes = fmt::format("[{}]", out.elements);
  if (!uneven && !shape.empty()) call.sizes = fmt::format("[{}]", shape);
  call.message = call.operation == "SEND" || call.operation == "RECV";
  call.sends = call.operation == "SEND";
  return out;
}

std::optional<RankCallProgress> read_rank_progress_from_watchdog_line(std::string_view line) {
  if (!line_contains_text(line, "[PG ") || !line_contains_text(line, "work: ")) return std::nullopt;
  const std::string_view mark = text_between(line, "[PG ", "]");
  RankCallProgress progress{
      .rank = whole_number_at_text_start(text_after(mark, "Rank ")),
      .at = whole_number_at_text_start(text_after(line, "work: ")),
      .enqueued = whole_number_at_text_start(text_after(line, "last enqueued NCCL work: "))};
  if (line_contains_text(mark, "GUID ")) {
    const std::string_view id = text_after(mark, "GUID ");
    progress.group.name = id.substr(0, id.find_first_of("( "));
    progress.group.purpose = text_between(id, "(", ")");
  } else {
    progress.group.name = mark.substr(0, mark.find(' '));
  }
  return progress;
}

std::vector<std::int64_t> read_ranks_blamed_by_pytorch(std::string_view line) {
  if (line_contains_text(line, "are the lagging ranks that caused this timeout")) {
    return numbers_in_list(text_between(line, "ranks [", "]"));
  }
  if (!line_contains_text(line, "but didn't join collective #")) return {};
  return numbers_in_list(text_between(line, "[", "] finished collective"));
}

std::vector<std::int64_t> numbers_in_list(std::string_view list) {
  std::vector<std::int64_t> numbers;
  while (!list.empty()) {
    const std::int64_t number = whole_number_at_text_start(list);
    if (number >= 0 && number < logs::kMaxJobRanks) numbers.push_back(number);
    const std::size_t comma = list.find(',');
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return numbers;
}

}  // namespace stepwright::diagnose
