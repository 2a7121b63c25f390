// Message paths in lines of NCCL_DEBUG=INFO.
#include "stepwright/diagnose/nccl_lines.h"

#include <gmock/gmock.h>

namespace stepwright::diagnose {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

NcclLogFacts facts_of(const std::vector<std::string>& lines) {
  NcclDebugLogReader nccl;
  std::int64_t number = 0;
  for (const std::string& line : lines) nccl.read_nccl_log_line(line, ++number);
  return nccl.facts();
}

TEST(NcclDebugLogReader, SocketsBetweenNodesAreASlowWay) {
  const NcclLogFacts facts =
      facts_of({"n1:7:9 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.",
                "n1:7:9 [0] NCCL INFO NET/IB : No device found.",
                "n1:7:9 [0] NCCL INFO Channel 00/0 : 0[90000] -> 8[1000] [send] via NET/Socket/3",
                "n1:7:9 [0] NCCL INFO Channel 01/0 : 0[90000] -> 8[1000] [send] via NET/Socket/4"});
  const std::vector<FaultFinding> findings = slow_link_findings(facts, "job.log");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().kind, DiagnosedFaultKind::kSlowLink);
  EXPECT_THAT(findings.front().what, HasSubstr("2 channels"));
  EXPECT_EQ(findings.front().where.line, 3);
  EXPECT_THAT(findings.front().causes.front(), HasSubstr("NCCL_IB_DISABLE=1 is set (job.log:1)"));
  EXPECT_THAT(findings.front().causes, Contains(HasSubstr("n1 found no adapter")));
}

TEST(NcclDebugLogReader, ANodeWithFewerAdapters) {
  const NcclLogFacts facts =
      facts_of({"n1:7:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB "
                "eth0:10.0.0.1<0>",
                "n2:7:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.2<0>"});
  const std::vector<FaultFinding> findings = slow_link_findings(facts, "job.log");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings.front().what, HasSubstr("n2 uses 1 adapters, n1 uses 2"));
  EXPECT_THAT(findings.front().evidence.front(), HasSubstr("mlx5_1"));
}

TEST(NcclDebugLogReader, SharedMemoryIsSlowerThanPeerToPeer) {
  const NcclLogFacts facts =
      facts_of({"n1:7:9 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1",
                "n1:7:9 [0] NCCL INFO Channel 00 : 0[1] -> 1[2] via SHM/direct/direct"});
  ASSERT_EQ(slow_link_findings(facts, "job.log").size(), 1u);
  EXPECT_THAT(slow_link_findings(facts, "job.log").front().changes.front(),
              HasSubstr("Unset NCCL_P2P_DISABLE"));
}

TEST(NcclDebugLogReader, SocketsInsideANodeAreUsual) {
  const std::string network = "n1:7:9 [0] NCCL INFO Using network Socket";
  const std::string one =
      "n1:7:9 [0] NCCL INFO comm 0x5 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0";
  const std::string two =
      "n1:7:9 [0] NCCL INFO comm 0x5 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0";
  EXPECT_TRUE(slow_link_findings(facts_of({network, one}), "job.log").empty());
  EXPECT_EQ(slow_link_findings(facts_of({network, one, two}), "job.log").size(), 1u);
}

TEST(NcclDebugLogReader, UsualWaysAreNoFinding) {
  const NcclLogFacts facts =
      facts_of({"n1:7:9 [0] NCCL INFO Channel 00/0 : 0[1] -> 1[2] via P2P/CUMEM/read",
                "n1:7:9 [0] NCCL INFO Channel 00/0 : 7[1] -> 8[2] [send] via NET/IB/0/GDRDMA",
                "n1:7:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>",
                "NCCL INFO via", ":: [ NCCL INFO Channel via NET/",
                "n1:7:9 [0] NCCL INFO NET/IB : Using [0]"});
  EXPECT_TRUE(slow_link_findings(facts, "job.log").empty());
}

}  // namespace
}  // namespace stepwright::diagnose
