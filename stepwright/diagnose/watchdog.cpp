#include "stepwright/diagnose/watchdog.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {

std::optional<WatchdogTimeout> read_watchdog_timeout(std::string_view line) {
  if (!holds(line, "WorkNCCL(") || !holds(line, "ran for")) return std::nullopt;
  const std::string_view work = after(line, "WorkNCCL(");
  WatchdogTimeout out{.rank = leading_number(after(line, "[Rank ")),
                      .elements = leading_number(after(work, "NumelIn=")),
                      .limit_ms = leading_number(after(work, "Timeout(ms)="))};
  RankCommunicationCall& call = out.call;
  call.sequence = leading_number(after(work, "SeqNum="));
  call.operation = after(work, "OpType=");
  call.operation.resize(std::min(call.operation.find_first_of(",)"), call.operation.size()));
  const std::string_view shape = between(work, "TensorShape=[", "]");
  const bool uneven = holds(call.operation, "ALLTOALL") || holds(call.operation, "GATHER") ||
                      holds(call.operation, "SCATTER") || holds(call.operation, "COALESCED");
  if (!uneven && out.elements >= 0) call.sizes = fmt::format("[{}]", out.elements);
  if (!uneven && !shape.empty()) call.sizes = fmt::format("[{}]", shape);
  call.message = call.operation == "SEND" || call.operation == "RECV";
  call.sends = call.operation == "SEND";
  return out;
}

std::optional<RankCallProgress> read_watchdog_progress(std::string_view line) {
  if (!holds(line, "[PG ") || !holds(line, "work: ")) return std::nullopt;
  const std::string_view mark = between(line, "[PG ", "]");
  RankCallProgress progress{.rank = leading_number(after(mark, "Rank ")),
                            .at = leading_number(after(line, "work: ")),
                            .enqueued = leading_number(after(line, "last enqueued NCCL work: "))};
  if (holds(mark, "GUID ")) {
    const std::string_view id = after(mark, "GUID ");
    progress.group.name = id.substr(0, id.find_first_of("( "));
    progress.group.purpose = between(id, "(", ")");
  } else {
    progress.group.name = mark.substr(0, mark.find(' '));
  }
  return progress;
}

std::vector<std::int64_t> read_lagging_ranks(std::string_view line) {
  if (holds(line, "are the lagging ranks that caused this timeout")) {
    return numbers_in_list(between(line, "ranks [", "]"));
  }
  if (!holds(line, "but didn't join collective #")) return {};
  return numbers_in_list(between(line, "[", "] finished collective"));
}

std::vector<std::int64_t> numbers_in_list(std::string_view list) {
  std::vector<std::int64_t> numbers;
  while (!list.empty()) {
    const std::int64_t number = leading_number(list);
    if (number >= 0 && number < logs::kMostJobRanks) numbers.push_back(number);
    const std::size_t comma = list.find(',');
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return numbers;
}

}  // namespace stepwright::diagnose
