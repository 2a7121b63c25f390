#include "stepwright/fit/own_cluster/host_overhead_fit.h"

#include <algorithm>

namespace stepwright::fit {
namespace {

/// How often a byte of the full buffer of two ranks is read or written outside of the transfer. A
/// gather copies one part in and everything out. A scatter copies everything in, c10d copies it
/// once more, and one part comes out.
constexpr double kGatherPasses = 3;
constexpr double kScatterPasses = 5;

bool sends(const MessagesByScheme& planned, step::ParallelismScheme scheme,
           collective::CollectiveOperation operation) {
  return planned.contains({scheme, operation});
}

/// Returns the ratio of this host's seconds for messages to those of the host behind the
/// framework's file, averaged over the kinds of messages in a trace; 1 where it has none.
double host_over_usual(std::span<const FittedLaw<cost::MessageHostOverheadLaw>> found,
                       const plan::MessageHostOverhead& usual) {
  double ratios = 0;
  double kinds = 0;
  for (const auto& one : found) {
    const bool sharded = one.law.scheme == step::ParallelismScheme::kData &&
                         one.law.operation != collective::CollectiveOperation::kAllReduce;
    const double usual_s = one.law.scheme == step::ParallelismScheme::kTensor ? usual.tensor_s
                           : sharded                                          ? usual.data_s
                                                                              : 0;
    if (!(one.law.start_s > 0 && usual_s > 0)) continue;
    ratios += one.law.start_s / usual_s;
    ++kinds;
  }
  return kinds > 0 ? ratios / kinds : 1;
}

}  // namespace

std::vector<FittedLaw<cost::MessageHostOverheadLaw>> fit_host_overhead(
    const MessagesByScheme& planned, const HostMessageWork& host) {
  std::map<collective::CollectiveOperation, PlannedMessages> of_operation;
  double dispatched = 0;
  for (const auto& [key, messages] : planned) {
    const auto& [scheme, operation] = key;
    of_operation[operation].calls += messages.calls;
    of_operation[operation].bytes += messages.bytes;
    if (scheme == step::ParallelismScheme::kTensor) dispatched += messages.calls;
  }
  std::vector<FittedLaw<cost::MessageHostOverheadLaw>> laws;
  for (const auto& [key, messages] : planned) {
    cost::MessageHostOverheadLaw law{.scheme = key.first, .operation = key.second};
    if (const auto found = host.copies.find(law.operation); found != host.copies.end()) {
      law.start_s = found->second.host / of_operation[law.operation].calls;
      law.s_per_byte = found->second.busy / of_operation[law.operation].bytes;
    }
    if (law.scheme == step::ParallelismScheme::kTensor) law.start_s += host.dispatch_s / dispatched;
    if (law.start_s + law.s_per_byte > 0) laws.push_back({.law = law, .rows = 1});
  }
  return laws;
}

std::vector<FittedLaw<cost::MessageHostOverheadLaw>> assumed_host_overhead(
    const MessagesByScheme& planned, const plan::MessageHostOverhead& host_overhead,
    std::span<const FittedLaw<cost::MessageHostOverheadLaw>> found, double memory_s_per_byte) {
  std::vector<FittedLaw<cost::MessageHostOverheadLaw>> laws;
  const double scale = host_over_usual(found, host_overhead);
  const bool splits = std::ranges::any_of(
      planned, [](const auto& one) { return one.first.first == step::ParallelismScheme::kTensor; });
  for (const collective::CollectiveOperation operation :
       {collective::CollectiveOperation::kAllReduce, collective::CollectiveOperation::kAllGather,
        collective::CollectiveOperation::kReduceScatter}) {
    if (splits) break;
    laws.push_back({.law = {.scheme = step::ParallelismScheme::kTensor,
                            .operation = operation,
                            .start_s = scale * host_overhead.tensor_s}});
  }
  for (const auto& [operation, passes] :
       {std::pair{collective::CollectiveOperation::kAllGather, kGatherPasses},
        {collective::CollectiveOperation::kReduceScatter, kScatterPasses}}) {
    if (sends(planned, step::ParallelismScheme::kData, operation)) continue;
    laws.push_back({.law = {.scheme = step::ParallelismScheme::kData,
                            .operation = operation,
                            .start_s = scale * host_overhead.data_s,
                            .s_per_byte = passes * memory_s_per_byte}});
  }
  return laws;
}

}  // namespace stepwright::fit
