#include "stepwright/diagnose/nccl_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stepwright/diagnose/advice.h"
#include "stepwright/diagnose/line_origin.h"
#include "stepwright/logs/readers/nccl_prefix.h"

namespace stepwright::diagnose {
namespace {

/// The most hosts and variables of one log that are stored.
constexpr std::size_t kMostKept = 100'000;

/// Reads the process that wrote a line of NCCL; nullopt: the line is not NCCL's.
std::optional<logs::NcclProcessPrefix> process_of(std::string_view line) {
  const std::size_t mark = line.find(" NCCL ");
  const std::size_t device = line.find(" [");
  if (mark == std::string_view::npos || device > mark) return std::nullopt;
  // A warning may be preceded by its position in NCCL's source.
  return logs::nccl_process_prefix_at_end(line.substr(0, line.find(']', device) + 1));
}

/// Returns the path of a channel: "NET/Socket" for "NET/Socket/3", "NET/IB/GDRDMA" for
/// "NET/IB/0/GDRDMA(PCI)", "P2P" for "P2P/IPC/read".
std::string way_of(std::string_view via) {
  via = via.substr(0, via.find_first_of(" \t\r\n"));
  if (via.starts_with("NET/Socket")) return "NET/Socket";
  if (via.starts_with("NET/")) {
    const std::string_view name = via.substr(4, via.find('/', 4) - 4);
    return fmt::format("NET/{}{}", name, line_contains_text(via, "GDRDMA") ? "/GDRDMA" : "");
  }
  if (via.starts_with("P2P")) return "P2P";
  if (via.starts_with("SHM") || via.starts_with("direct")) return "SHM";
  return {};
}

/// Reads the adapters in "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB
/// eth0:10.0.0.1<0>".
std::set<std::string> adapters_of(std::string_view text) {
  std::set<std::string> adapters;
  text = text.substr(0, text.find(';'));
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1)) {
    const std::string_view item = text.substr(at + 1);
    const std::size_t end = item.find(']');
    if (end == std::string_view::npos || whole_number_at_text_start(item) < 0) continue;
    const std::string_view name = item.substr(end + 1, item.find_first_of(": ", end) - end - 1);
    if (!name.empty()) adapters.emplace(name);
  }
  return adapters;
}

/// Returns the value in "NCCL_X set by environment to 1." or "NCCL_IB_HCA set to mlx5_0:1"; empty:
/// the line sets no variable.
std::string_view set_value(std::string_view text) {
  if (!text.starts_with("NCCL_")) return {};
  std::string_view value = text_after(text, " set by environment to ");
  if (value.empty()) value = text_after(text, " set to ");
  return value.substr(0, value.find_last_not_of(". \t\r\n") + 1);
}

FaultFinding way_finding(const NcclLogValue& line, const std::string& file, std::string what) {
  return {.kind = DiagnosedFaultKind::kSlowLink,
          .where = {.file = file, .line = line.line},
          .what = std::move(what),
          .evidence = {fmt::format("{}:{}: {}", file, line.line, line.text)}};
}

/// Adds variables set by the user that explain a slow path as evidence.
void add_settings(const NcclLogFacts& facts, const std::string& file,
                  std::initializer_list<std::string_view> names, FaultFinding& finding) {
  for (const std::string_view name : names) {
    const auto set = facts.settings.find(std::string(name));
    if (set == facts.settings.end() || set->second.text == "0") continue;
    finding.causes.push_back(
        fmt::format("{}={} is set ({}:{})", name, set->second.text, file, set->second.line));
    finding.changes.push_back(fmt::format("Unset {}", name));
  }
}

class LinkFindings {
 public:
  LinkFindings(const NcclLogFacts& facts, const std::string& file) : facts_(facts), file_(file) {}

  std::vector<FaultFinding> find() {
    add_sockets();
    add_shared_memory();
    add_host_path();
    add_rails();
    return std::move(findings_);
  }

 private:
  [[nodiscard]] std::int64_t channels(const std::string& way) const {
    const auto found = facts_.channels.find(way);
    return found == facts_.channels.end() ? 0 : found->second;
  }

  /// Finds sockets used between nodes, or in a job whose user has configured adapters.
  void add_sockets() {
    const std::int64_t count = channels("NET/Socket");
    const bool across =
        facts_.hosts.size() > 1 || facts_.across_nodes || facts_.settings.contains("NCCL_IB_HCA");
    if (count == 0 && (!facts_.socket_network || !across)) return;
    FaultFinding finding =
        count > 0
            ? way_finding(
                  facts_.first_channel.at("NET/Socket"), file_,
                  fmt::format("Messages between nodes go over sockets (NET/Socket, {} channels).",
                              count))
            : way_finding(*facts_.socket_network, file_,
                          "Messages between nodes go over sockets (network Socket).");
    add_settings(facts_, file_, {"NCCL_IB_DISABLE", "NCCL_NET", "NCCL_NET_PLUGIN"}, finding);
    for (const auto& [host, line] : facts_.no_adapter) {
      finding.causes.push_back(fmt::format("{} found no adapter of InfiniBand ({}:{})",
                                           host.empty() ? "A node" : host, file_, line.line));
    }
    add_causes_and_remedies(finding, "slow.sockets");
    findings_.push_back(std::move(finding));
  }

  void add_shared_memory() {
    const std::int64_t count = channels("SHM");
    if (count == 0 || channels("P2P") >= count) return;
    FaultFinding finding =
        way_finding(facts_.first_channel.at("SHM"), file_,
                    fmt::format("Devices of a node exchange through host memory (SHM, {} "
                                "channels; {} peer to peer).",
                                count, channels("P2P")));
    add_settings(facts_, file_, {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"}, finding);
    add_causes_and_remedies(finding, "slow.shared_memory");
    findings_.push_back(std::move(finding));
  }

  void add_host_path() {
    const std::int64_t count = channels("NET/IB");
    if (count == 0 && !facts_.no_direct) return;
    FaultFinding finding =
        count > 0
            ? way_finding(facts_.first_channel.at("NET/IB"), file_,
                          fmt::format("Messages of InfiniBand pass through host memory ({} "
                                      "channels without GDRDMA).",
                                      count))
            : way_finding(*facts_.no_direct, file_,
                          "Messages of InfiniBand pass through host memory (GPU Direct RDMA is "
                          "disabled).");
    add_settings(facts_, file_, {"NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ"}, finding);
    add_causes_and_remedies(finding, "slow.host_path");
    findings_.push_back(std::move(finding));
  }

  void add_rails() {
    if (facts_.nics.size() < 2) return;
    const auto fewer = [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();
    };
    const auto least = std::ranges::min_element(facts_.nics, fewer);
    const auto most = std::ranges::max_element(facts_.nics, fewer);
    if (least->second.size() == most->second.size()) return;
    std::vector<std::string> absent;
    std::ranges::set_difference(most->second, least->second, std::back_inserter(absent));
    FaultFinding finding{
        .kind = DiagnosedFaultKind::kSlowLink,
        .where = {.file = file_},
        .what = fmt::format("{} uses {} adapters, {} uses {}.", least->first, least->second.size(),
                            most->first, most->second.size()),
        .evidence = {fmt::format("{} does not name {}", least->first, fmt::join(absent, ", "))}};
    add_settings(facts_, file_, {"NCCL_IB_HCA"}, finding);
    add_causes_and_remedies(finding, "slow.rail");
    findings_.push_back(std::move(finding));
  }

  const NcclLogFacts& facts_;
  const std::string& file_;
  std::vector<FaultFinding> findings_;
};

}  // namespace

void NcclDebugLogReader::read_nccl_log_line(std::string_view line, std::int64_t number) {
  const std::string_view text = text_after(line, "NCCL INFO ");
  if (text.empty()) return;
  const auto process = process_of(line);
  if (!process) {
    // Users sometimes remove the process from a quoted line: "[0] NCCL INFO NET/IB : No device
    // found."
    if (line.starts_with("[") || line.starts_with("NCCL INFO ")) read_info("", text, number);
    return;
  }
  const std::int64_t rank = whole_number_at_text_start(text_after(text, " rank "));
  const std::int64_t ranks = whole_number_at_text_start(text_after(text, " nranks "));
  if (rank >= 0 && ranks > rank && ranks <= logs::kMaxJobRanks && ranks_.size() < kMostKept) {
    auto& known = ranks_[{std::string(process->host), process->pid}];
    known = std::max(known, std::pair(ranks, rank));
  }
  if (facts_.hosts.size() < kMostKept) facts_.hosts.emplace(process->host);
  read_info(process->host, text, number);
}

void NcclDebugLogReader::read_info(std::string_view host, std::string_view text,
                                   std::int64_t number) {
  const NcclLogValue here{.line = number, .text = line_start_for_quoting(text)};
  if (whole_number_at_text_start(text_after(text, " nNodes ")) > 1) facts_.across_nodes = true;
  if (const std::string way = way_of(text_after(text, " via ")); !way.empty()) {
    ++facts_.channels[way];
    facts_.first_channel.try_emplace(way, here);
  }
  if (const std::string_view value = set_value(text);
      !value.empty() && facts_.settings.size() < kMostKept) {
    facts_.settings.try_emplace(
        std::string(text.substr(0, text.find(' '))),
        NcclLogValue{.line = number, .text = line_start_for_quoting(value)});
  }
  if (!facts_.socket_network && text.starts_with("Using network Socket"))
    facts_.socket_network = here;
  if (!facts_.no_direct && line_contains_text(text, "GPU Direct RDMA Disabled for HCA"))
    facts_.no_direct = here;
  if (facts_.nics.size() >= kMostKept || facts_.no_adapter.size() >= kMostKept) return;
  if (text.starts_with("NET/IB : No device found"))
    facts_.no_adapter.try_emplace(std::string(host), here);
  if (text.starts_with("NET/IB : Using [")) {
    facts_.nics[std::string(host)].merge(adapters_of(text));
  }
}

std::int64_t NcclDebugLogReader::rank_of_nccl_process(std::string_view line) const {
  const auto process = process_of(line);
  if (!process) return logs::kUnknown;
  const auto found = ranks_.find({std::string(process->host), process->pid});
  return found == ranks_.end() ? logs::kUnknown : found->second.second;
}

std::vector<FaultFinding> slow_link_findings(const NcclLogFacts& facts, const std::string& file) {
  return LinkFindings(facts, file).find();
}

}  // namespace stepwright::diagnose
