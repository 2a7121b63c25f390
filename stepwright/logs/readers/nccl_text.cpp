#include "stepwright/logs/readers/nccl_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/line_reader.h"
#include "stepwright/logs/readers/nccl_operations.h"

namespace stepwright {
namespace {

constexpr std::int64_t kMostNcclRanks = 10'000'000;
constexpr std::size_t kLongestName = 64;  ///< Of an operation, with what follows it.

constexpr std::string_view kNcclMarks[] = {" NCCL INFO ", " NCCL WARN ", " NCCL TRACE "};

/// The next mark of a message at or behind a place, and its length. The rare letter is looked for.
std::pair<std::size_t, std::size_t> next_mark(std::string_view line, std::size_t from) {
  for (std::size_t at = line.find("NCCL ", from + 1); at != std::string_view::npos;
       at = line.find("NCCL ", at + 1)) {
    for (const std::string_view mark : kNcclMarks) {
      if (line.substr(at - 1).starts_with(mark)) return {at - 1, mark.size()};
    }
  }
  return {std::string_view::npos, 0};
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
}

/// "host:615:18953 [2]" at the end of a text.
struct NcclPrefix {
  std::size_t begin = 0;  ///< Of the host in the text.
  std::string_view host;
  std::int64_t pid = 0;
  std::int64_t device = 0;
};

std::optional<std::int64_t> number_before(std::string_view& text, char before) {
  std::size_t begin = text.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  const auto number = to_integer(text.substr(begin));
  if (!number || begin == 0 || text[begin - 1] != before) return std::nullopt;
  text = text.substr(0, begin - 1);
  return number;
}

std::optional<NcclPrefix> prefix_at_end(std::string_view text) {
  NcclPrefix prefix;
  const std::size_t bracket = text.rfind('[');
  if (!text.ends_with(']') || bracket == std::string_view::npos || bracket == 0)
    return std::nullopt;
  prefix.device =
      to_integer(text.substr(bracket + 1, text.size() - bracket - 2)).value_or(kUnknown);
  text = text.substr(0, bracket);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto thread = number_before(text, ':');
  if (!thread) return std::nullopt;
  const auto pid = number_before(text, ':');
  if (!pid) return std::nullopt;
  prefix.pid = *pid;
  prefix.begin = text.size();
  while (prefix.begin > 0 && is_word(text[prefix.begin - 1])) --prefix.begin;
  prefix.host = text.substr(prefix.begin);
  if (prefix.host.empty()) return std::nullopt;
  return prefix;
}

}  // namespace

/// What a message says: the words behind the words that name them.
struct NcclTextReader::Said {
  explicit Said(std::string_view text) : whole(text) {
    std::string_view key;
    while (!text.empty()) {
      const std::size_t space = text.find(' ');
      std::string_view word = text.substr(0, space);
      text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
      if (word.empty()) continue;
      if (word.starts_with("[nranks=") && word.ends_with(']')) {
        words.push_back({"nranks", word.substr(8, word.size() - 9)});
      }
      if (!key.empty()) words.push_back({key, word});
      key = word;
    }
  }
  [[nodiscard]] std::string_view of(std::string_view key) const {
    const auto found =
        std::ranges::find(words, key, &std::pair<std::string_view, std::string_view>::first);
    return found == words.end() ? std::string_view() : found->second;
  }
  [[nodiscard]] std::int64_t number(std::string_view key) const {
    return to_integer(of(key)).value_or(kUnknown);
  }

  std::string_view whole;
  std::vector<std::pair<std::string_view, std::string_view>> words;
};

void NcclTextReader::read(ByteSource& bytes) {
  log_.sources.push_back({.file = bytes.name(), .format = LogFormat::kNcclText});
  source_ = &log_.sources.back();
  LineReader lines(bytes);
  for (std::string_view text; lines.next(text);) {
    ++source_->lines;
    line(text, lines.number());
  }
}

void NcclTextReader::line(std::string_view text, std::int64_t number) {
  auto [mark, length] = next_mark(text, 0);
  if (mark == std::string_view::npos) {
    if (const std::size_t at = text.find("NCCL version "); at != std::string_view::npos) {
      source_->version =
          "NCCL " + std::string(text.substr(at + 13, text.find(' ', at + 13) - at - 13));
    } else if (text.find_first_not_of(" \t") != std::string_view::npos) {
      source_->cannot_explain(number, "no line of NCCL");
    }
    return;
  }
  std::string_view prefix = text.substr(0, mark);
  while (mark != std::string_view::npos) {
    const std::size_t begin = mark + length;
    const auto [next, next_length] = next_mark(text, begin);
    std::string_view said =
        text.substr(begin, next == std::string_view::npos ? next : next - begin);
    std::string_view next_prefix;
    if (next != std::string_view::npos) {
      next_prefix = said.substr(begin_of_prefix(said));
      said = said.substr(0, said.size() - next_prefix.size());
    }
    message(prefix, said, number);
    prefix = next_prefix;
    mark = next;
    length = next_length;
  }
}

/// Where the prefix of the next message begins in a text that ends with it: the host of a process
/// that is known, which the message before may touch.
std::size_t NcclTextReader::begin_of_prefix(std::string_view text) const {
  const auto prefix = prefix_at_end(text);
  if (!prefix) return text.size();
  for (const Process& process : processes_) {
    if (process.pid == prefix->pid && prefix->host.ends_with(process.host)) {
      return prefix->begin + prefix->host.size() - process.host.size();
    }
  }
  return prefix->begin;
}

void NcclTextReader::message(std::string_view prefix, std::string_view text, std::int64_t number) {
  const auto who = prefix_at_end(prefix);
  const bool call = text.substr(0, kLongestName).find(": opCount ") != std::string_view::npos;
  const bool init = !call && text.find(" COMPLETE") != std::string_view::npos &&
                    text.find("comm 0x") != std::string_view::npos;
  const bool tuning = !call && text.find(" Bytes -> Algo ") != std::string_view::npos;
  const std::size_t version = call ? std::string_view::npos : text.find("NCCL version ");
  if (version != std::string_view::npos) {
    source_->version = "NCCL " + std::string(text.substr(
                                     version + 13, text.find(' ', version + 13) - version - 13));
  }
  if (!call && !init && !tuning) return;
  if (!who) {
    return source_->cannot_explain(number, "a message without host, process and device before it");
  }
  const std::size_t process = process_of(who->host, who->pid, who->device);
  if (tuning) return tuned(process, text, number);
  const Said said(text);
  if (call) return called(process, said, number);
  if (text.find("Init COMPLETE") != std::string_view::npos) return initialised(process, said);
  live_.erase({process, std::string(said.of("comm"))});  // destroyed, aborted: the pointer is free
}

std::size_t NcclTextReader::process_of(std::string_view host, std::int64_t pid,
                                       std::int64_t device) {
  const auto [place, fresh] =
      known_processes_.try_emplace({std::string(host), pid, device}, processes_.size());
  if (fresh) processes_.push_back({.host = std::string(host), .pid = pid, .device = device});
  return place->second;
}

void NcclTextReader::initialised(std::size_t process, const Said& said) {
  const std::string pointer(said.of("comm"));
  Handle handle{.process = process,
                .id = std::string(said.of("commId")),
                .rank = said.number("rank"),
                .size = said.number("nranks")};
  if (handle.size < 1 || handle.size > kMostNcclRanks) return;
  if (const std::string_view parent = said.of("parent"); !parent.empty() && handle.id.empty()) {
    const auto known = live_.find({process, std::string(parent)});
    if (known != live_.end() && !handles_[known->second].id.empty()) {
      // Since 2.28 childCount is called splitCount.
      handle.id = fmt::format("{}/{}{}:{}", handles_[known->second].id, said.of("childCount"),
                              said.of("splitCount"), said.of("color"));
    }
  }
  live_[{process, pointer}] = handles_.size();
  handles_.push_back(std::move(handle));
}

/// The live communicator of a pointer; a new one when the log does not hold its beginning, or when
/// the pointer now stands for another.
std::size_t NcclTextReader::handle_of(std::size_t process, const std::string& pointer,
                                      std::int64_t size) {
  const auto found = live_.find({process, pointer});
  if (found != live_.end() && handles_[found->second].size == size) return found->second;
  live_[{process, pointer}] = handles_.size();
  handles_.push_back({.process = process, .size = size});
  return handles_.size() - 1;
}

void NcclTextReader::called(std::size_t process, const Said& said, std::int64_t number) {
  const std::string_view name = said.whole.substr(0, said.whole.find(':'));
  const auto known = nccl_operation(name);
  if (!known) {
    return source_->cannot_explain(number, fmt::format("an unknown operation, \"{}\"", name));
  }
  const std::int64_t size = said.number("nranks");
  if (said.of("stream").empty() || said.of("comm").empty() || size < 1 || size > kMostNcclRanks) {
    return source_->cannot_explain(number, "a call whose line is cut or mixed with another");
  }
  const std::int64_t element_bytes = nccl_type_bytes(said.number("datatype"));
  const std::int64_t payload =
      nccl_payload(*known, buffer_bytes(said.number("count"), element_bytes), size);
  if (payload == kUnknown) {
    return source_->cannot_explain(number, "a count or type that no message has");
  }
  calls_.push_back({.record = log_.records.size(),
                    .handle = handle_of(process, std::string(said.of("comm")), size),
                    .peer = said.number("root")});
  std::int64_t sequence = kUnknown;
  const std::string_view hex = said.of("opCount");
  std::from_chars(hex.data(), hex.data() + hex.size(), sequence, 16);
  calls_.back().sequence = sequence;
  log_.records.push_back({.line = number,
                          .payload_bytes = payload,
                          .source = static_cast<std::int32_t>(source_ - log_.sources.data()),
                          .operation = known->operation,
                          .element_bytes = static_cast<std::uint8_t>(element_bytes)});
}

/// "AllReduce: 1048576 Bytes -> Algo RING proto SIMPLE ..."
void NcclTextReader::tuned(std::size_t process, std::string_view text, std::int64_t number) {
  const std::size_t colon = text.find(": ");
  const auto known = nccl_operation(text.substr(0, colon));
  if (!known) return source_->cannot_explain(number, "an unknown operation that is tuned");
  const std::string_view rest = text.substr(colon + 2);
  const std::int64_t bytes =
      buffer_bytes(to_integer(rest.substr(0, rest.find(' '))).value_or(kUnknown), 1);
  if (bytes == kUnknown) return source_->cannot_explain(number, "a size that no message has");
  tuned_.push_back({.process = process,
                    .operation = *known,
                    .bytes = bytes,
                    .record = {.line = number,
                               .source = static_cast<std::int32_t>(source_ - log_.sources.data()),
                               .operation = known->operation}});
}

/// Lines of TUNING have no communicator: it is known when the process has one alone.
void NcclTextReader::count_tuned() {
  std::map<std::size_t, std::vector<const Handle*>> of_process;
  for (const Handle& handle : handles_) of_process[handle.process].push_back(&handle);
  for (TunedCall& call : tuned_) {
    LogRecord& record = call.record;
    const auto handles = of_process.find(call.process);
    if (handles != of_process.end() && handles->second.size() == 1) {
      record.communicator = handles->second.front()->communicator;
    }
    record.rank = processes_[call.process].rank;
    record.run = processes_[call.process].run;
    record.payload_bytes = nccl_payload(call.operation, call.bytes, log_.group_size(record));
    if (record.payload_bytes == kUnknown) record.logged_bytes = call.bytes;
    log_.sources[static_cast<std::size_t>(record.source)].note(
        "calls are those of TUNING, which rank 0 alone prints; add COLL to NCCL_DEBUG_SUBSYS");
    log_.records.push_back(record);
  }
}

void NcclTextReader::finish() {
  if (handles_.empty() && tuned_.empty()) return;
  rank_processes();
  join_handles();
  collapse_exchanges();
  if (calls_.empty()) count_tuned();
}

/// The rank of a process is that in the largest communicator of the job, which all processes have.
void NcclTextReader::rank_processes() {
  std::int64_t world = 0;
  for (const Handle& handle : handles_) world = std::max(world, handle.size);
  for (const Handle& handle : handles_) {
    Process& process = processes_[handle.process];
    if (handle.size != world || handle.rank == kUnknown || process.rank != kUnknown) continue;
    process.rank = handle.rank;
  }
  assume_ranks(world);
  std::map<std::int64_t, std::int32_t> times;  // that a rank was seen
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].rank == kUnknown) continue;
    processes_[i].run = times[processes_[i].rank]++;
  }
  for (LogSource& source : log_.sources) {
    if (source.format == LogFormat::kNcclText) source.world = world;
  }
}

/// Where no line says them, ranks follow hosts and devices, and a note says so.
void NcclTextReader::assume_ranks(std::int64_t world) {
  const bool known = std::ranges::all_of(
      processes_, [](const Process& process) { return process.rank != kUnknown; });
  if (known || std::ssize(processes_) != world) return;
  std::vector<std::size_t> order(processes_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::tuple(std::string_view(processes_[i].host), processes_[i].device,
                      processes_[i].pid);
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    processes_[order[i]].rank = static_cast<std::int64_t>(i);
  }
  for (LogSource& source : log_.sources) {
    if (source.format == LogFormat::kNcclText) {
      source.note("no line says the ranks: they are assumed to follow hosts and devices");
    }
  }
}

void NcclTextReader::join_handles() {
  std::map<std::pair<std::string, std::int32_t>, std::int32_t> known;
  for (Handle& handle : handles_) {
    const Process& process = processes_[handle.process];
    const auto next = static_cast<std::int32_t>(log_.communicators.size());
    handle.communicator = next;
    if (!handle.id.empty()) {
      handle.communicator = known.try_emplace({handle.id, process.run}, next).first->second;
    }
    if (handle.communicator == next) {
      log_.communicators.push_back({.name = handle.id, .size = handle.size, .ranks = {}});
    }
    LogCommunicator& group = log_.communicators[static_cast<std::size_t>(handle.communicator)];
    if (handle.rank < 0 || handle.rank >= group.size || handle.size != group.size) continue;
    group.ranks.resize(static_cast<std::size_t>(group.size), kUnknown);
    group.ranks[static_cast<std::size_t>(handle.rank)] = process.rank;
  }
  std::int64_t world = 0;
  for (const Handle& handle : handles_) world = std::max(world, handle.size);
  const auto group_of = [&](const Handle& handle) -> LogCommunicator& {
    return log_.communicators[static_cast<std::size_t>(handle.communicator)];
  };
  const auto complete = [](const LogCommunicator& group) {
    return !group.ranks.empty() && std::ranges::find(group.ranks, kUnknown) == group.ranks.end();
  };
  for (const Handle& handle : handles_) {
    LogCommunicator& group = group_of(handle);
    if (group.size != world || complete(group)) continue;
    group.ranks.resize(static_cast<std::size_t>(world));
    for (std::int64_t i = 0; i < world; ++i) group.ranks[static_cast<std::size_t>(i)] = i;
  }
  for (const HandledCall& call : calls_) {
    const Handle& handle = handles_[call.handle];
    const Process& process = processes_[handle.process];
    LogRecord& record = log_.records[call.record];
    record.rank = process.rank;
    record.run = process.run;
    record.communicator = handle.communicator;
    const auto& ranks = log_.communicators[static_cast<std::size_t>(handle.communicator)].ranks;
    if (is_point_to_point(record.operation) && call.peer >= 0 && call.peer < std::ssize(ranks)) {
      record.peer = ranks[static_cast<std::size_t>(call.peer)];
    }
  }
  for (const Handle& handle : handles_) {
    if (!complete(group_of(handle))) group_of(handle).ranks.clear();
  }
}

/// An exchange that a framework wrote as sends to and receives from every rank, itself included,
/// is one all-to-all: nobody else sends to itself.
void NcclTextReader::collapse_exchanges() {
  std::map<std::size_t, std::vector<const HandledCall*>> batches;  // open ones, by handle
  std::set<std::size_t> gone;
  const auto close = [&](std::vector<const HandledCall*>& batch) {
    if (batch.empty()) return;
    const std::int64_t self = handles_[batch.front()->handle].rank;
    bool to_self = false;
    bool from_self = false;
    std::int64_t sent = 0;
    for (const HandledCall* call : batch) {
      const LogRecord& record = log_.records[call->record];
      const bool send = record.operation == LogOperation::kSend;
      if (send) sent += record.payload_bytes;
      (send ? to_self : from_self) |= call->peer == self;
    }
    if (self != kUnknown && to_self && from_self) {
      LogRecord& first = log_.records[batch.front()->record];
      first.operation = LogOperation::kAllToAll;
      first.payload_bytes = sent;
      first.peer = kUnknown;
      for (std::size_t i = 1; i < batch.size(); ++i) gone.insert(batch[i]->record);
      log_.sources[static_cast<std::size_t>(first.source)].note(
          "all-to-alls that were logged as sends and receives are counted as one call each");
    }
    batch.clear();
  };
  for (const HandledCall& call : calls_) {
    std::vector<const HandledCall*>& batch = batches[call.handle];
    const LogOperation operation = log_.records[call.record].operation;
    const auto repeated = [&](const HandledCall* other) {
      return other->sequence != call.sequence ||
             (other->peer == call.peer && log_.records[other->record].operation == operation);
    };
    if (!is_point_to_point(operation) || std::ranges::any_of(batch, repeated)) close(batch);
    if (is_point_to_point(operation)) batch.push_back(&call);
  }
  for (auto& [handle, batch] : batches) close(batch);
  if (gone.empty()) return;
  std::size_t index = 0;
  std::erase_if(log_.records, [&](const LogRecord&) { return gone.contains(index++); });
}

}  // namespace stepwright
