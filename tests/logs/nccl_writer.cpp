#include "tests/logs/nccl_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace stepwright::logs {
namespace {

std::string written_prefix(std::int64_t rank) {
  return fmt::format("node-{}:{}:{} [{}] NCCL INFO ", rank / 8, 100 + rank, 900 + rank, rank % 8);
}

std::vector<WrittenCall> written_calls(const step::StepProgram& program, const plan::RankGrid& grid,
                                       std::int64_t rank) {
  Calls calls;
  add_planned_calls(calls, program, grid, rank);
  std::vector<WrittenCall> list;
  for (const auto& [key, group] : calls) {
    const std::vector<std::int64_t> members = grid.group_ranks_containing(key.group, rank);
    const auto size = std::ssize(members);
    const auto at = std::ranges::find(members, rank) - members.begin();
    for (const ProcessGroupCall& call : group) {
      const auto add = [&](std::string name, std::int64_t peer = 0) {
        list.push_back({std::move(name), members, call.payload_bytes, peer});
      };
      switch (call.operation) {
        case step::OperatorKind::kAllReduce: add("AllReduce"); break;
        case step::OperatorKind::kAllGather: add("AllGather"); break;
        case step::OperatorKind::kReduceScatter: add("ReduceScatter"); break;
        case step::OperatorKind::kAllToAll: add("AlltoAll"); break;
        case step::OperatorKind::kBroadcast: add("Broadcast"); break;
        case step::OperatorKind::kSend: add("Send", (at + 1) % size); break;
        case step::OperatorKind::kReceive: add("Recv", (at + size - 1) % size); break;
        default: add("Send", (at + 1) % size), add("Recv", (at + size - 1) % size);
      }
    }
  }
  return list;
}

/// Returns the number of one-byte elements, as NCCL counts them.
std::int64_t written_count(const WrittenCall& call) {
  const bool part =
      call.name == "AllGather" || call.name == "ReduceScatter" || call.name == "AlltoAll";
  return part ? call.payload_bytes / std::ssize(call.members) : call.payload_bytes;
}

std::string init_line(std::int64_t rank, const std::vector<std::int64_t>& members, int pointer) {
  return fmt::format(
      "{}ncclCommInitRank comm 0x{:x} rank {} nranks {} cudaDev 0 nvmlDev 0 busId 1000 commId "
      "0x{} - Init COMPLETE\n",
      written_prefix(rank), pointer, std::ranges::find(members, rank) - members.begin(),
      members.size(), fmt::join(members, ""));
}

}  // namespace

std::string nccl_log_of(const step::StepProgram& program, const plan::RankGrid& grid, int steps,
                        const std::vector<std::int64_t>& ranks,
                        const std::function<void(std::vector<WrittenCall>&)>& change) {
  std::string text;
  std::vector<std::int64_t> world;
  for (std::int64_t rank = 0; rank < program.ranks; ++rank) world.push_back(rank);
  for (const std::int64_t rank : ranks) {
    std::map<std::vector<std::int64_t>, int> pointers{{world, 0x10}};
    text += init_line(rank, world, 0x10);
    for (int step = 0; step < steps; ++step) {
      std::vector<WrittenCall> calls = written_calls(program, grid, rank);
      if (change) change(calls);
      for (const WrittenCall& call : calls) {
        const auto [place, fresh] =
            pointers.try_emplace(call.members, 0x10 + static_cast<int>(pointers.size()));
        if (fresh) text += init_line(rank, call.members, place->second);
        text += fmt::format(
            "{}{}: opCount {:x} sendbuff 0x1 recvbuff 0x2 count {} datatype 0 op 0 root {} comm "
            "0x{:x} [nranks={}] stream 0x9\n",
            written_prefix(rank), call.name, step, written_count(call), call.peer, place->second,
            call.members.size());
      }
    }
  }
  return text;
}

}  // namespace stepwright::logs
