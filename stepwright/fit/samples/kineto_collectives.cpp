#include "stepwright/fit/samples/kineto_collectives.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/logs/readers/torch_calls.h"

namespace stepwright::fit {
namespace {

/// True if the cost model has an operation; several messages in one kernel are not one of them.
bool is_sampled(std::optional<logs::LoggedOperation> call, std::string_view name) {
  const bool known =
      call == logs::LoggedOperation::kAllReduce || call == logs::LoggedOperation::kAllGather ||
      call == logs::LoggedOperation::kReduceScatter || call == logs::LoggedOperation::kAllToAll;
  return known && name.find("coalesced") == std::string_view::npos;
}

/// Returns the ranks of "[0, 8, 16]". In a shortened list ("[0, 8, ...]") the missing ranks are
/// filled in if the listed ones are equally far apart; otherwise, or when the count differs, the
/// result is empty.
std::vector<std::int64_t> ranks_of(const logs::TraceCommunicationCall& message) {
  std::vector<std::int64_t> ranks;
  const std::string& text = message.ranks;
  for (std::size_t at = text.find_first_of("0123456789"); at < text.size();
       at = text.find_first_of("0123456789", at)) {
    std::int64_t rank = 0;
    const auto result = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (result.ec != std::errc()) return {};
    ranks.push_back(rank);
    at = static_cast<std::size_t>(result.ptr - text.data());
  }
  if (text.find("...") != std::string::npos && ranks.size() > 2) {
    const std::int64_t step = ranks[1] - ranks[0];
    for (std::size_t i = 2; i < ranks.size(); ++i) {
      if (ranks[i] - ranks[i - 1] != step) return {};
    }
    while (std::ssize(ranks) < message.group_size) ranks.push_back(ranks.back() + step);
  }
  if (std::ssize(ranks) != message.group_size) ranks.clear();
  return ranks;
}

/// Returns the number of nodes of a group that has equally many ranks on each; 0 otherwise.
std::int64_t nodes_of(const std::vector<std::int64_t>& ranks, std::int64_t devices_per_node) {
  std::map<std::int64_t, std::int64_t> on_node;
  for (const std::int64_t rank : ranks) ++on_node[rank / devices_per_node];
  std::set<std::int64_t> counts;
  for (const auto& [node, count] : on_node) counts.insert(count);
  return counts.size() == 1 ? std::ssize(on_node) : 0;
}

/// The fields that equal messages share: operation, nodes, ranks, type, bytes.
using MessageKey =
    std::tuple<std::string_view, std::int64_t, std::int64_t, std::string, std::int64_t>;

constexpr std::int64_t kMostRanks = 1'000'000;

class MessageReader {
 public:
  MessageReader(const logs::KinetoTrace& trace, std::int64_t devices_per_node)
      : trace_(trace), devices_per_node_(devices_per_node) {}

  /// Returns the key of a message; nullopt: `refusal` says why it has none.
  std::optional<MessageKey> read(const logs::KinetoKernel& kernel) {
    const logs::TraceCommunicationCall& message =
        trace_.messages[static_cast<std::size_t>(kernel.message)];
    const auto call = logs::operation_of_torch_call(message.name);
    if (message.name.empty()) return refuse("does not describe its message (PyTorch 2.2 does)");
    if (!is_sampled(call, message.name)) return refuse("no operation of the model");
    if (message.element_bytes < 1) return refuse("unknown type " + message.type);
    if (!message.even) return refuse("split unevenly");
    if (message.group_size < 2) return refuse("of one rank");
    if (message.group_size > kMostRanks) return refuse("of more than a million ranks");
    const std::vector<std::int64_t> ranks = ranks_of(message);
    const std::int64_t nodes = nodes_of(ranks, devices_per_node_);
    if (nodes == 0) return refuse("the ranks of its group are not known, or uneven over nodes");
    const std::int64_t bytes = logs::local_call_payload_bytes(
        *call, message.in_elements, message.out_elements, message.element_bytes);
    if (bytes < 1) return refuse("of no size");
    if (!kernel.alone) return refuse("beside another kernel");
    return MessageKey{name_of(logs::kLogOperationNames, *call), nodes, message.group_size,
                      message.type, bytes};
  }

  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  std::nullopt_t refuse(std::string reason) {
    refusal_ = std::move(reason);
    return std::nullopt;
  }

  const logs::KinetoTrace& trace_;
  std::int64_t devices_per_node_;
  std::string refusal_;
};

}  // namespace

TraceCollectiveSamples read_trace_collectives(const logs::KinetoTrace& trace,
                                              std::int64_t devices_per_node) {
  std::map<MessageKey, const logs::KinetoKernel*> fastest;
  TraceCollectiveSamples out;
  MessageReader reader(trace, devices_per_node);
  bool any = false;
  for (const logs::KinetoKernel& kernel : trace.kernels) {
    if (kernel.message < 0) continue;
    any = true;
    const std::optional<MessageKey> key = reader.read(kernel);
    if (!key) {
      const std::string& call = trace.messages[static_cast<std::size_t>(kernel.message)].name;
      UnusedKernels& unused =
          out.unused[{call.empty() ? trace.name_of(kernel) : call, reader.refusal()}];
      ++unused.kernels;
      unused.seconds += 1e-6 * kernel.duration_us;
      continue;
    }
    const logs::KinetoKernel*& best = fastest[*key];
    if (best == nullptr || kernel.duration_us < best->duration_us) best = &kernel;
  }
  if (!any) fail_input(fmt::format("{}: has no kernels of NCCL", trace.file));
  out.table = {.name = trace.file,
               .header = {"collective", "nodes", "gpus", "datatype", "size_bytes", "time_us"},
               .rows = {}};
  for (const auto& [key, kernel] : fastest) {
    const auto& [operation, nodes, ranks, type, bytes] = key;
    out.table.rows.push_back(
        {kernel->event,
         {std::string(operation), std::to_string(nodes), std::to_string(ranks), type,
          std::to_string(bytes), fmt::format("{}", kernel->duration_us)}});
  }
  return out;
}

}  // namespace stepwright::fit
