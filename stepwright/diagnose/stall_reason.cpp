#include "stepwright/diagnose/stall_reason.h"

#include <algorithm>
#include <cctype>

#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

/// Calls up to this number in a group belong to the start of a job.
constexpr std::int64_t kFirstCalls = 10;

/// Reduces the spellings "_ALLGATHER_BASE", "nccl:all_gather" and "all_gather" to one.
std::string plain(std::string_view operation) {
  std::string name;
  for (const char c : operation) {
    if (c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

/// True for a barrier, which PyTorch runs as an all-reduce of one element.
bool is_barrier(const std::string& operation, const RankCommunicationCall& call) {
  return line_contains_text(operation, "barrier") ||
         (line_contains_text(operation, "allreduce") &&
          (call.sizes == "[1]" || call.sizes == "[[1]]"));
}

std::string_view operation_reason(const RankCommunicationCall& call) {
  const std::string operation = plain(call.operation);
  if (call.message || line_contains_text(operation, "send") ||
      line_contains_text(operation, "recv") || line_contains_text(operation, "coalesced")) {
    return "stall.message";
  }
  if (is_barrier(operation, call)) return "stall.barrier";
  if (line_contains_text(operation, "allgather") || line_contains_text(operation, "reducescatter"))
    return "stall.sharded";
  if (line_contains_text(operation, "allreduce")) return "stall.gradient";
  if (line_contains_text(operation, "broadcast")) return "stall.broadcast";
  if (line_contains_text(operation, "alltoall")) return "stall.exchange";
  return {};
}

std::string_view work_reason(PossibleHostWork work) {
  switch (work) {
    case PossibleHostWork::kPreparing: return "stall.preparing";
    case PossibleHostWork::kCheckpoint: return "stall.checkpoint";
    case PossibleHostWork::kEvaluation: return "stall.evaluation";
  }
  return {};
}

}  // namespace

std::vector<std::string_view> stalled_call_advice_keys(const JobFailureEvidence& evidence,
                                                       const RankCommunicationCall& call) {
  std::vector<std::string_view> reasons;
  const auto add = [&](std::string_view reason) {
    if (!reason.empty() && std::ranges::find(reasons, reason) == reasons.end())
      reasons.push_back(reason);
  };
  if (evidence.work_before) add(work_reason(evidence.work_before->work));
  const bool first = call.sequence > 0 && call.sequence <= kFirstCalls;
  if (first) {
    add("stall.first");
    if (is_barrier(plain(call.operation), call)) add("stall.preparing");
  }
  add(operation_reason(call));
  return reasons;
}

}  // namespace stepwright::diagnose
