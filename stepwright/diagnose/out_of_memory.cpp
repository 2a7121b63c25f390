#include "stepwright/diagnose/out_of_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "stepwright/core/format.h"
#include "stepwright/diagnose/advice.h"
#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

/// Reads the message format up to PyTorch 2.0: "(GPU 0; 79.15 GiB total capacity; 76.00 GiB already
/// allocated; 10.00 MiB free; 77.50 GiB reserved in total by PyTorch)".
void read_old_message(std::string_view line, OutOfMemoryReport& event) {
  const std::string_view inside = text_between(line, "(GPU ", ")");
  event.capacity_bytes = byte_size_at_text_start(text_after(inside, "; "));
  const std::string_view rest = text_after(inside, "total capacity; ");
  event.allocated_bytes = byte_size_at_text_start(rest);
  event.free_bytes = byte_size_at_text_start(text_after(rest, "already allocated; "));
  const double reserved = byte_size_at_text_start(text_after(rest, " free; "));
  if (reserved < 0 || event.allocated_bytes < 0) return;
  event.unused_bytes = std::max(0.0, reserved - event.allocated_bytes);
}

/// Returns the bytes held by other processes. In a container PyTorch lists its own process among
/// them: it is the smallest one that holds at least the bytes that PyTorch allocated, and is left
/// out.
double others_bytes(std::string_view line, const OutOfMemoryReport& event) {
  std::vector<double> processes;
  for (std::string_view rest = text_after(line, "Process "); !rest.empty();
       rest = text_after(rest, "Process ")) {
    const double bytes = byte_size_at_text_start(text_between(rest, " has ", " memory in use"));
    if (bytes > 0) processes.push_back(bytes);
  }
  if (event.process_bytes < 0 && event.allocated_bytes >= 0) {
    std::ranges::sort(processes);
    const double held = event.allocated_bytes + std::max(0.0, event.unused_bytes);
    const auto own = std::ranges::find_if(processes, [&](double bytes) { return bytes >= held; });
    if (own != processes.end()) processes.erase(own);
  }
  return std::accumulate(processes.begin(), processes.end(), 0.0);
}

/// Reads the message format since PyTorch 2.1, which consists of sentences.
void read_new_message(std::string_view line, OutOfMemoryReport& event) {
  event.capacity_bytes = byte_size_at_text_start(text_after(line, "has a total capacity of "));
  if (event.capacity_bytes < 0)
    event.capacity_bytes = byte_size_at_text_start(text_after(line, "has a total capacty of "));
  event.free_bytes = byte_size_at_text_start(text_after(line, " of which "));
  event.process_bytes = byte_size_at_text_start(text_after(line, "this process has "));
  event.allocated_bytes = byte_size_at_text_start(text_after(line, "Of the allocated memory "));
  event.unused_bytes = byte_size_at_text_start(text_after(line, "is allocated by PyTorch, and "));
  if (event.unused_bytes < 0) {  // this wording also names private pools of CUDA graphs
    event.unused_bytes = byte_size_at_text_start(text_after(line, "CUDA Graphs), and "));
  }
  event.others_bytes = others_bytes(line, event);
}

std::string known_bytes(double bytes, std::string_view text) {
  return bytes < 0 ? std::string() : fmt::format("{} {}", format_bytes(bytes), text);
}

std::string device_sentence(const OutOfMemoryReport& event) {
  std::string text = event.rank >= 0 ? fmt::format("Rank {}", event.rank) : "A rank";
  text += event.asked_bytes >= 0
              ? fmt::format(" asked its device for {}", format_bytes(event.asked_bytes))
              : " found no memory on its device";
  if (event.free_bytes >= 0)
    text += fmt::format(" where {} were free", format_bytes(event.free_bytes));
  if (event.capacity_bytes >= 0) text += fmt::format(" of {}", format_bytes(event.capacity_bytes));
  return text + ".";
}

std::vector<std::string> device_evidence(const OutOfMemoryReport& event) {
  std::vector<std::string> lines;
  const auto add = [&](std::string text) {
    if (!text.empty()) lines.push_back(std::move(text));
  };
  add(fmt::format("{}:{}: out of memory{}", event.file, event.line,
                  event.frame.empty() ? "" : ", at " + event.frame));
  add(known_bytes(event.allocated_bytes, "are allocated by PyTorch"));
  add(known_bytes(event.unused_bytes, "are reserved by PyTorch and unused (fragmentation)"));
  if (event.process_bytes >= 0 && event.allocated_bytes >= 0 && event.unused_bytes >= 0) {
    const double rest = event.process_bytes - event.allocated_bytes - event.unused_bytes;
    add(known_bytes(std::max(0.0, rest), "are the context, NCCL's buffers and other libraries"));
  }
  if (event.others_bytes > 0) add(known_bytes(event.others_bytes, "are held by other processes"));
  return lines;
}

/// Returns device memory held neither by PyTorch's allocator nor by other named processes;
/// negative: unknown.
double unexplained_bytes(const OutOfMemoryReport& event) {
  if (event.capacity_bytes < 0 || event.free_bytes < 0 || event.allocated_bytes < 0) return -1;
  return event.capacity_bytes - event.free_bytes - event.allocated_bytes -
         std::max(0.0, event.unused_bytes) - event.others_bytes;
}

/// Returns the keys of `advice.yaml` for a device that ran out of memory: first those that follow
/// from the figures in the message, then those from the requesting functions, the likeliest first.
std::vector<std::string_view> device_reasons(const OutOfMemoryReport& event) {
  std::vector<std::string_view> reasons;
  const double capacity = std::max(event.capacity_bytes, kGiB);
  const double unexplained = unexplained_bytes(event);
  const bool loading = !event.places.empty() && event.places.front() == "oom.loading";
  if (loading) reasons.emplace_back("oom.loading");
  if (event.others_bytes > 0.02 * capacity || unexplained > std::max(2 * kGiB, 0.15 * capacity))
    reasons.emplace_back("oom.others");
  if (event.unused_bytes >= 0 && event.asked_bytes >= 0 && event.unused_bytes >= event.asked_bytes)
    reasons.emplace_back("oom.fragmented");
  for (const std::string_view place : event.places) {
    if (place != "oom.loading" || !loading) reasons.push_back(place);
  }
  if (event.asked_bytes > std::max(2 * kGiB, 0.1 * event.capacity_bytes))
    reasons.emplace_back("oom.large");
  reasons.emplace_back("oom.device");
  return reasons;
}

std::vector<std::int64_t> known_ranks(const std::vector<OutOfMemoryReport>& events, bool host) {
  std::vector<std::int64_t> ranks;
  for (const OutOfMemoryReport& event : events) {
    if (event.host == host && event.rank >= 0) ranks.push_back(event.rank);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

FaultFinding device_finding(const OutOfMemoryReport& event, std::vector<std::int64_t> ranks) {
  FaultFinding finding{.kind = DiagnosedFaultKind::kOutOfMemory,
                       .ranks = std::move(ranks),
                       .where = {.file = event.file, .line = event.line},
                       .what = device_sentence(event),
                       .evidence = device_evidence(event)};
  if (event.asked_bytes >= 0) {
    finding.lost_bytes = std::max(0.0, event.asked_bytes - std::max(0.0, event.free_bytes));
  }
  if (finding.ranks.size() > 1) {
    finding.evidence.push_back(fmt::format("{} ranks ran out of memory: {}", finding.ranks.size(),
                                           rank_ranges_text(finding.ranks)));
  }
  add_causes_and_remedies(finding, device_reasons(event));
  return finding;
}

FaultFinding host_finding(const OutOfMemoryReport& event, std::vector<std::int64_t> ranks) {
  FaultFinding finding{
      .kind = DiagnosedFaultKind::kOutOfMemory,
      .ranks = std::move(ranks),
      .where = {.file = event.file, .line = event.line},
      .what = "A node ran out of host memory, and a process was killed.",
      .evidence = {fmt::format(
          "{}:{}: the kernel or Slurm ended a process{}", event.file, event.line,
          event.process_bytes > 0 ? " that held " + format_bytes(event.process_bytes) : "")}};
  add_causes_and_remedies(finding, "oom.host");
  return finding;
}

}  // namespace

std::optional<OutOfMemoryReport> read_device_out_of_memory(std::string_view line) {
  if (!line_contains_text(line, "out of memory")) return std::nullopt;
  const bool device = line_contains_text(line, "CUDA out of memory") ||
                      line_contains_text(line, "HIP out of memory") ||
                      line_contains_text(line, "XPU out of memory") ||
                      line_contains_text(line, "CUDA error: out of memory");
  if (!device) return std::nullopt;
  OutOfMemoryReport event;
  event.asked_bytes = byte_size_at_text_start(text_after(line, "Tried to allocate "));
  if (line_contains_text(line, "already allocated")) {
    read_old_message(line, event);
  } else {
    read_new_message(line, event);
  }
  return event;
}

std::optional<OutOfMemoryReport> read_host_out_of_memory(std::string_view line) {
  const bool kernel = (line_contains_text(line, "Out of memory: Kill") ||
                       line_contains_text(line, "Memory cgroup out of memory")) &&
                      line_contains_text(line, "rocess ");
  const bool slurm = line_contains_text(line, "oom_kill event") ||
                     line_contains_text(line, "oom-kill event") ||
                     line_contains_text(line, "Out Of Memory");
  const bool pod = line_contains_text(line, "OOMKilled");
  const bool python =
      line_contains_text(line, "DefaultCPUAllocator: can't allocate memory") ||
      (line_contains_text(line, "Cannot allocate memory") && !line_contains_text(line, "ibv_"));
  if (!kernel && !slurm && !pod && !python) return std::nullopt;
  OutOfMemoryReport event{.host = true};
  event.process_bytes = byte_size_at_text_start(text_after(line, "anon-rss:"));
  const std::int64_t asked = whole_number_at_text_start(text_after(line, "you tried to allocate "));
  if (asked > 0) event.asked_bytes = static_cast<double>(asked);
  return event;
}

std::vector<FaultFinding> out_of_memory_findings(const std::vector<OutOfMemoryReport>& events) {
  std::vector<FaultFinding> findings;
  for (const bool host : {false, true}) {
    const auto first = std::ranges::find(events, host, &OutOfMemoryReport::host);
    if (first == events.end()) continue;
    std::vector<std::int64_t> ranks = known_ranks(events, host);
    findings.push_back(host ? host_finding(*first, std::move(ranks))
                            : device_finding(*first, std::move(ranks)));
  }
  return findings;
}

}  // namespace stepwright::diagnose
