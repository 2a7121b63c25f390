// One run of NCCL on four ranks, recorded by all tools that can (make_fixtures/nccl_run.py): all
// logs must agree.
#include <gmock/gmock.h>

#include "tests/logs/fixtures.h"

namespace stepwright::logs {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;

std::vector<std::string> of_ranks(const std::string& before, int ranks, const std::string& after) {
  std::vector<std::string> names;
  for (int rank = 0; rank < ranks; ++rank) {
    names.push_back(before + std::to_string(rank) + after);
  }
  return names;
}

TEST(NcclRuns, AreTheSameInLinesAndInTheFlightRecorder) {
  const CommunicationLog lines = fixture_log(of_ranks("nccl_mixed.rank", 4, ".log.gz"));
  const CommunicationLog dumps = fixture_log(of_ranks("nccl_mixed.flight_rank", 4, ""));
  EXPECT_EQ(lines.unexplained() + dumps.unexplained(), 0);
  auto expected = sums_of(dumps);
  auto& [count, bytes] = expected[{"all_reduce", 4}];  // the barrier behind the dump
  count += 4;
  bytes += 16;
  EXPECT_EQ(sums_of(lines), expected);
  EXPECT_EQ(lines.sources[0].version, "NCCL 2.28.9+cuda13.0");
}

TEST(NcclRuns, AreTheSameInTracesOfHostAndDevice) {
  const CommunicationLog trace = fixture_log({"nccl_mixed.trace_rank0.json.gz"});
  const CommunicationLog host = fixture_log({"nccl_mixed.et_rank0.json.gz"});
  EXPECT_EQ(trace.unexplained() + host.unexplained(), 0);
  EXPECT_EQ(sums_of(trace), sums_of(host));
}

TEST(NcclRuns, TraceHalfOfWhatTheRecorderSaw) {
  const CommunicationLog trace = fixture_log(of_ranks("nccl_mixed.trace_rank", 2, ".json.gz"));
  const CommunicationLog dumps = fixture_log(of_ranks("nccl_mixed.flight_rank", 2, ""));
  auto doubled = sums_of(trace);  // two of four steps
  for (auto& [key, sum] : doubled) sum = {2 * sum.first, 2 * sum.second};
  EXPECT_EQ(doubled, sums_of(dumps));
}

TEST(NcclRuns, NameTheSameGroups) {
  for (const CommunicationLog& log : {fixture_log(of_ranks("nccl_mixed.rank", 4, ".log.gz")),
                                      fixture_log(of_ranks("nccl_mixed.flight_rank", 4, "")),
                                      fixture_log({"nccl_mixed.trace_rank1.json.gz"})}) {
    for (const LoggedCall& record : log.records) {
      const LogCommunicator& group =
          log.communicators[static_cast<std::size_t>(record.communicator)];
      ASSERT_EQ(std::ssize(group.ranks), group.size);
      EXPECT_THAT(group.ranks, Contains(record.rank));
      if (group.size == 2) {
        EXPECT_EQ(group.ranks[0] / 2, record.rank / 2);
      }
      if (record.operation == LoggedOperation::kReceive) {
        EXPECT_EQ(record.peer, (record.rank + 3) % 4);
      }
    }
  }
}

TEST(NcclRuns, HaveTimesOfAllCallsButThoseThatShareAKernel) {
  const CommunicationLog log = fixture_log({"nccl_mixed.trace_rank0.json.gz"});
  std::int64_t untimed = 0;
  for (const LoggedCall& record : log.records) {
    if (!(record.duration_s > 0)) ++untimed;
    if (record.duration_s > 0) {
      EXPECT_LE(record.exposed_s, record.duration_s);
    }
  }
  EXPECT_EQ(untimed, 4);  // a send and a receive in one group, twice
}

}  // namespace
}  // namespace stepwright::logs
