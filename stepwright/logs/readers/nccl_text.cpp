#include "stepwright/logs/readers/nccl_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/line_reader.h"
#include "stepwright/logs/readers/nccl_operations.h"
#include "stepwright/logs/readers/nccl_prefix.h"

namespace stepwright::logs {
namespace {

/// Longest name of an operation and the text after it, in bytes.
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestHost = 255;
/// The most ranks that all groups of a job may list together; larger groups have a size only.
constexpr std::int64_t kMostListed = std::int64_t{1} << 24;

constexpr std::string_view kNcclMarks[] = {" NCCL INFO ", " NCCL WARN ", " NCCL TRACE "};

/// Returns position and length of the next mark of a message, searched from `from`. The search
/// looks for the mark's rarest letter.
std::pair<std::size_t, std::size_t> next_mark(std::string_view line, std::size_t from) {
  for (std::size_t at = line.find("NCCL ", from + 1); at != std::string_view::npos;
       at = line.find("NCCL ", at + 1)) {
    for (const std::string_view mark : kNcclMarks) {
      if (line.substr(at - 1).starts_with(mark)) return {at - 1, mark.size()};
    }
  }
  return {std::string_view::npos, 0};
}

}  // namespace

/// The content of a message: values, by the words before them.
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
    return parse_whole_number(of(key)).value_or(kUnknown);
  }

  std::string_view whole;
  std::vector<std::pair<std::string_view, std::string_view>> words;
};

void NcclTextReader::read(FileByteReader& bytes) {
  log_.sources.push_back({.file = bytes.name(), .format = LogFormat::kNcclText});
  source_ = &log_.sources.back();
  LineReader lines(bytes);
  for (std::string_view text; lines.read_next_line(text);) {
    ++source_->lines;
    if (lines.is_line_truncated())
      source_->count_unexplained_line(lines.number(), kLineTooLongReason);
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
      source_->count_unexplained_line(number, "no line of NCCL");
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

/// Returns where the prefix of the next message begins in a text that ends with it: at the host
/// name of a known process, which may directly follow the previous message.
std::size_t NcclTextReader::begin_of_prefix(std::string_view text) const {
  const auto prefix = nccl_process_prefix_at_end(text);
  if (!prefix) return text.size();
  const auto hosts = hosts_.find(prefix->pid);
  if (hosts == hosts_.end()) return prefix->begin;
  for (std::size_t size = 1; size <= std::min(prefix->host.size(), kLongestHost); ++size) {
    const std::size_t before = prefix->host.size() - size;
    if (hosts->second.contains(prefix->host.substr(before))) return prefix->begin + before;
  }
  return prefix->begin;
}

void NcclTextReader::message(std::string_view prefix, std::string_view text, std::int64_t number) {
  const auto who = nccl_process_prefix_at_end(prefix);
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
    return source_->count_unexplained_line(number,
                                           "a message without host, process and device before it");
  }
  const std::size_t process = process_of(who->host, who->pid, who->device);
  if (tuning) return tuned(process, text, number);
  const Said said(text);
  if (call) return called(process, said, number);
  if (text.find("Init COMPLETE") != std::string_view::npos) return initialised(process, said);
  // Destroyed or aborted: the pointer can be reused.
  live_.erase({process, std::string(said.of("comm"))});
}

std::size_t NcclTextReader::process_of(std::string_view host, std::int64_t pid,
                                       std::int64_t device) {
  const auto [place, fresh] =
      known_processes_.try_emplace({std::string(host), pid, device}, processes_.size());
  if (fresh) {
    processes_.push_back({.host = std::string(host), .pid = pid, .device = device});
    hosts_[pid].insert(std::string(host));
  }
  return place->second;
}

void NcclTextReader::initialised(std::size_t process, const Said& said) {
  const std::string pointer(said.of("comm"));
  NcclCommunicatorHandle handle{.process = process,
                                .id = std::string(said.of("commId")),
                                .rank = said.number("rank"),
                                .size = said.number("nranks")};
  if (handle.size < 1 || handle.size > kMaxJobRanks) return;
  if (const std::string_view parent = said.of("parent"); !parent.empty() && handle.id.empty()) {
    const auto known = live_.find({process, std::string(parent)});
    if (known != live_.end() && !handles_[known->second].id.empty()) {
      // Since 2.28, childCount is named splitCount.
      handle.id = fmt::format("{}/{}{}:{}", handles_[known->second].id, said.of("childCount"),
                              said.of("splitCount"), said.of("color"));
    }
  }
  live_[{process, pointer}] = handles_.size();
  handles_.push_back(std::move(handle));
}

/// Returns the live communicator of a pointer. Makes a new one if the log lacks its creation, or if
/// the pointer now belongs to another.
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
    return source_->count_unexplained_line(number,
                                           fmt::format("an unknown operation, \"{}\"", name));
  }
  const std::int64_t size = said.number("nranks");
  if (said.of("stream").empty() || said.of("comm").empty() || size < 1 || size > kMaxJobRanks) {
    return source_->count_unexplained_line(number,
                                           "a call whose line is cut or mixed with another");
  }
  const std::int64_t element_bytes = nccl_type_bytes(said.number("datatype"));
  const std::int64_t payload =
      nccl_call_payload_bytes(*known, buffer_bytes(said.number("count"), element_bytes), size);
  if (payload == kUnknown) {
    return source_->count_unexplained_line(number, "a count or type that no message has");
  }
  const std::size_t handle = handle_of(process, std::string(said.of("comm")), size);
  std::int64_t sequence = kUnknown;
  const std::string_view hex = said.of("opCount");
  std::from_chars(hex.data(), hex.data() + hex.size(), sequence, 16);
  const std::int64_t peer = is_point_to_point(*known) ? said.number("root") : kUnknown;
  exchanged(handle, {log_.records.size(), sequence, peer, payload, *known});
  called_ = true;
  log_.records.push_back({.line = number,
                          .payload_bytes = payload,
                          .peer = peer,
                          .communicator = static_cast<std::int32_t>(handle),
                          .source = static_cast<std::int32_t>(source_ - log_.sources.data()),
                          .operation = *known,
                          .element_bytes = static_cast<std::uint8_t>(element_bytes)});
}

/// Adds a call to the possible all-to-all of its handle, or ends that: all its messages have one
/// opCount, and none occurs twice.
void NcclTextReader::exchanged(std::size_t handle, const PossibleAllToAllMessage& message) {
  const bool of_exchange = is_point_to_point(message.operation);
  PossibleAllToAll& exchange = exchanges_[handle];
  const std::pair who(message.peer, message.operation);
  const bool ends =
      !exchange.messages.empty() &&
      (exchange.messages.front().sequence != message.sequence || exchange.known.contains(who));
  if (!of_exchange || ends) close_exchange(exchange, handles_[handle]);
  if (!of_exchange) return;
  exchange.messages.push_back(message);
  exchange.known.insert(who);
}

/// Converts sends to and receives from every rank, itself included, into one all-to-all. Only
/// all-to-alls contain a message from a rank to itself.
void NcclTextReader::close_exchange(PossibleAllToAll& exchange,
                                    const NcclCommunicatorHandle& handle) {
  const std::vector<PossibleAllToAllMessage> batch = std::exchange(exchange, {}).messages;
  bool to_self = false;
  bool from_self = false;
  std::int64_t sent = 0;
  for (const PossibleAllToAllMessage& message : batch) {
    const bool send = message.operation == LoggedOperation::kSend;
    if (send) sent += message.bytes;
    (send ? to_self : from_self) |= message.peer == handle.rank;
  }
  if (handle.rank != kUnknown && to_self && from_self) {
    for (const PossibleAllToAllMessage& message : batch) {
      LoggedCall record = log_.records[message.record];
      record.count = 0;
      log_.records.set(message.record, record);
    }
    LoggedCall first = log_.records[batch.front().record];
    first.count = 1;
    first.operation = LoggedOperation::kAllToAll;
    first.payload_bytes = sent;
    first.peer = kUnknown;
    log_.records.set(batch.front().record, first);
    add_parts(batch, handle, first);
    log_.sources[static_cast<std::size_t>(first.source)].note(
        "All-to-alls that were logged as sends and receives are counted as one call each.");
  }
}

/// Adds the shares of an all-to-all. Until all files are read, its rank is the process.
void NcclTextReader::add_parts(const std::vector<PossibleAllToAllMessage>& batch,
                               const NcclCommunicatorHandle& handle, const LoggedCall& call) {
  LoggedAllToAllParts exchange{.line = call.line,
                               .rank = static_cast<std::int64_t>(handle.process),
                               .source = call.source,
                               .sent_bytes = {}};
  const auto sends =
      std::ranges::count(batch, LoggedOperation::kSend, &PossibleAllToAllMessage::operation);
  if (sends != handle.size) return;
  exchange.sent_bytes.resize(static_cast<std::size_t>(handle.size));
  for (const PossibleAllToAllMessage& message : batch) {
    if (message.operation != LoggedOperation::kSend) continue;
    if (message.peer < 0 || message.peer >= handle.size) return;
    exchange.sent_bytes[static_cast<std::size_t>(message.peer)] = message.bytes;
  }
  log_.exchanges.push_back(std::move(exchange));
}

/// Reads a line such as "AllReduce: 1048576 Bytes -> Algo RING proto SIMPLE ..."
void NcclTextReader::tuned(std::size_t process, std::string_view text, std::int64_t number) {
  const std::size_t colon = text.find(": ");
  const auto known = nccl_operation(text.substr(0, colon));
  if (!known) return source_->count_unexplained_line(number, "an unknown operation that is tuned");
  const std::string_view rest = text.substr(colon + 2);
  const std::int64_t bytes =
      buffer_bytes(parse_whole_number(rest.substr(0, rest.find(' '))).value_or(kUnknown), 1);
  if (bytes == kUnknown)
    return source_->count_unexplained_line(number, "a size that no message has");
  if (called_) return;
  tuned_.push_back({.line = number,
                    .logged_bytes = bytes,
                    .communicator = static_cast<std::int32_t>(process),
                    .source = static_cast<std::int32_t>(source_ - log_.sources.data()),
                    .operation = *known});
}

/// Uses the lines of TUNING as calls. They name no communicator; it is known if the process has
/// only one.
void NcclTextReader::count_tuned() {
  std::map<std::size_t, std::vector<const NcclCommunicatorHandle*>> of_process;
  for (const NcclCommunicatorHandle& handle : handles_)
    of_process[handle.process].push_back(&handle);
  for (LoggedCall record : tuned_) {
    const auto process = static_cast<std::size_t>(record.communicator);
    const auto handles = of_process.find(process);
    const bool one = handles != of_process.end() && handles->second.size() == 1;
    record.communicator = one ? handles->second.front()->communicator : -1;
    record.rank = processes_[process].rank;
    record.run = processes_[process].run;
    record.payload_bytes =
        nccl_call_payload_bytes(record.operation, record.logged_bytes, log_.group_size(record));
    if (record.payload_bytes != kUnknown) record.logged_bytes = kUnknown;
    log_.sources[static_cast<std::size_t>(record.source)].note(
        "Calls are those of TUNING, which rank 0 alone prints; with COLL in NCCL_DEBUG_SUBSYS "
        "every rank "
        "prints its own.");
    log_.records.push_back(record);
  }
}

void NcclTextReader::finish() {
  if (handles_.empty() && tuned_.empty()) return;
  for (auto& [handle, exchange] : exchanges_) close_exchange(exchange, handles_[handle]);
  log_.records.erase_if([](const LoggedCall& record) { return record.count == 0; });
  rank_processes();
  join_handles();
  if (!called_) count_tuned();
}

/// Sets the rank of each process: its rank in the largest communicator, which has all processes of
/// the job.
void NcclTextReader::rank_processes() {
  std::int64_t world = 0;
  for (const NcclCommunicatorHandle& handle : handles_) world = std::max(world, handle.size);
  for (const NcclCommunicatorHandle& handle : handles_) {
    Process& process = processes_[handle.process];
    if (handle.size != world || handle.rank == kUnknown || process.rank != kUnknown) continue;
    process.rank = handle.rank;
  }
  assume_ranks(world);
  std::map<std::int64_t, std::int32_t> times;  // how often a rank was seen
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].rank == kUnknown) continue;
    processes_[i].run = times[processes_[i].rank]++;
  }
  for (LogFileReadResult& source : log_.sources) {
    if (source.format == LogFormat::kNcclText) source.world = world;
  }
}

/// Assigns ranks in the order of hosts and devices if no line has them, and adds a note.
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
  for (LogFileReadResult& source : log_.sources) {
    if (source.format == LogFormat::kNcclText) {
      source.note("No line says the ranks; they are assumed to follow hosts and devices.");
    }
  }
}

void NcclTextReader::join_handles() {
  std::map<std::pair<std::string, std::int32_t>, std::int32_t> known;
  MembersOfGroups members;
  for (NcclCommunicatorHandle& handle : handles_) {
    const Process& process = processes_[handle.process];
    const auto next = static_cast<std::int32_t>(log_.communicators.size());
    handle.communicator = next;
    if (!handle.id.empty()) {
      handle.communicator = known.try_emplace({handle.id, process.run}, next).first->second;
    }
    if (handle.communicator == next) {
      log_.communicators.push_back({.name = handle.id, .size = handle.size, .ranks = {}});
    }
    const LogCommunicator& group =
        log_.communicators[static_cast<std::size_t>(handle.communicator)];
    if (handle.rank < 0 || handle.rank >= group.size || handle.size != group.size) continue;
    members[handle.communicator][handle.rank] = process.rank;
  }
  for (const auto& [communicator, ranks] : members) list_members(communicator, ranks);
  list_world();
  resolve_calls(members);
}

/// Lists the members of a group, if the log's lines name them all.
void NcclTextReader::list_members(std::int32_t communicator, const Members& members) {
  LogCommunicator& group = log_.communicators[static_cast<std::size_t>(communicator)];
  const bool known =
      std::ranges::none_of(members, [](const auto& member) { return member.second == kUnknown; });
  if (!known || std::ssize(members) != group.size) return;
  for (const auto& [rank, global] : members) group.ranks.push_back(global);
}

void NcclTextReader::note_unlisted(std::int64_t world) {
  for (LogFileReadResult& source : log_.sources) {
    if (source.format != LogFormat::kNcclText) continue;
    source.note(fmt::format(
        "Some groups of all {} ranks are known by their size alone: there are too many.", world));
  }
}

/// Lists all ranks of the job as members of groups that have as many ranks as the job.
void NcclTextReader::list_world() {
  std::int64_t world = 0;
  std::int64_t listed = 0;
  for (const NcclCommunicatorHandle& handle : handles_) world = std::max(world, handle.size);
  for (const NcclCommunicatorHandle& handle : handles_) {
    LogCommunicator& group = log_.communicators[static_cast<std::size_t>(handle.communicator)];
    if (group.size != world || !group.ranks.empty()) continue;
    listed += world;
    if (listed > kMostListed) return note_unlisted(world);
    group.ranks.resize(static_cast<std::size_t>(world));
    std::iota(group.ranks.begin(), group.ranks.end(), 0);
  }
}

void NcclTextReader::resolve_calls(const MembersOfGroups& members) {
  const auto global = [&](std::int32_t communicator, std::int64_t rank) {
    const auto& ranks = log_.communicators[static_cast<std::size_t>(communicator)].ranks;
    if (rank >= 0 && rank < std::ssize(ranks)) return ranks[static_cast<std::size_t>(rank)];
    const auto group = members.find(communicator);
    if (group == members.end()) return kUnknown;
    const auto member = group->second.find(rank);
    return member == group->second.end() ? kUnknown : member->second;
  };
  log_.records.change_kinds([&](LoggedCall& record) {
    if (log_.sources[static_cast<std::size_t>(record.source)].format != LogFormat::kNcclText) {
      return;
    }
    const NcclCommunicatorHandle& handle = handles_[static_cast<std::size_t>(record.communicator)];
    const Process& process = processes_[handle.process];
    record.rank = process.rank;
    record.run = process.run;
    record.communicator = handle.communicator;
    record.peer = global(handle.communicator, record.peer);
  });
  for (LoggedAllToAllParts& exchange : log_.exchanges) {
    if (log_.sources[static_cast<std::size_t>(exchange.source)].format != LogFormat::kNcclText) {
      continue;
    }
    exchange.rank = processes_[static_cast<std::size_t>(exchange.rank)].rank;
  }
}

}  // namespace stepwright::logs
