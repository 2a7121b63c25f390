// Output of NCCL, unchanged and as it is damaged on its way into a file.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/logs/fixtures.h"

namespace stepwright::logs {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string nccl_prefix(int rank) {
  return fmt::format("node-{}:{}:{} [{}]", rank / 2, 10 + rank, 90 + rank, rank % 2);
}

std::string nccl_init(int rank, int of, std::string_view pointer, int in_rank,
                      std::string_view rest) {
  return fmt::format(
      "{} NCCL INFO ncclCommInitRank comm 0x{} rank {} nranks {} cudaDev 0 nvmlDev 0 busId 45000 "
      "{} - Init COMPLETE\n",
      nccl_prefix(rank), pointer, in_rank, of, rest);
}

std::string nccl_call(int rank, std::string_view name, int count, std::string_view pointer, int of,
                      int root = 0, std::string_view sequence = "1a", int type = 7) {
  return fmt::format(
      "{} NCCL INFO {}: opCount {} sendbuff 0x1 recvbuff 0x2 count {} datatype {} op 0 root {} "
      "comm 0x{} [nranks={}] stream 0x9\n",
      nccl_prefix(rank), name, sequence, count, type, root, pointer, of);
}

TEST(NcclText, CountsFullBuffers) {
  const CommunicationLog log =
      log_of(nccl_init(0, 4, "a0", 0, "commId 0xd") + nccl_call(0, "AllReduce", 100, "a0", 4) +
             nccl_call(0, "AllGather", 100, "a0", 4) +
             nccl_call(0, "ReduceScatter", 100, "a0", 4, 0, "b", 9) +
             nccl_call(0, "Broadcast", 100, "a0", 4) + nccl_call(0, "AlltoAll", 100, "a0", 4));
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("all_reduce", 4), Pair(1, 400)),
                                                 Pair(Pair("all_gather", 4), Pair(1, 1600)),
                                                 Pair(Pair("reduce_scatter", 4), Pair(1, 800)),
                                                 Pair(Pair("broadcast", 4), Pair(1, 400)),
                                                 Pair(Pair("all_to_all", 4), Pair(1, 1600))));
  EXPECT_EQ(log.unexplained(), 0);
}

TEST(NcclText, JoinsCommunicatorsOverRanks) {
  std::string text;
  for (int rank = 0; rank < 4; ++rank) text += nccl_init(rank, 4, "a", rank, "commId 0xd");
  text += nccl_init(1, 2, "b", 0, "commId 0xe") + nccl_init(3, 2, "c", 1, "commId 0xe");
  text += nccl_call(3, "AllReduce", 8, "c", 2) + nccl_call(1, "Send", 8, "b", 2, 1);
  const CommunicationLog log = log_of(text);
  ASSERT_EQ(log.records.size(), 2U);
  EXPECT_EQ(log.records[0].rank, 3);
  EXPECT_THAT(log.communicators[static_cast<std::size_t>(log.records[0].communicator)].ranks,
              ElementsAre(1, 3));
  EXPECT_EQ(log.records[1].peer, 3);
}

TEST(NcclText, JoinsSplitsThroughTheirParent) {
  std::string text;
  for (int rank = 0; rank < 4; ++rank) text += nccl_init(rank, 4, "a", rank, "commId 0xd");
  for (int rank = 0; rank < 4; ++rank) {
    text += nccl_init(rank, 2, "b", rank / 2,
                      fmt::format("parent 0xa childCount 1 color {} key {}", rank % 2, rank));
  }
  text += nccl_call(2, "AllReduce", 8, "b", 2);
  const CommunicationLog log = log_of(text);
  ASSERT_EQ(log.records.size(), 1U);
  EXPECT_THAT(log.communicators[static_cast<std::size_t>(log.records[0].communicator)].ranks,
              ElementsAre(0, 2));
}

TEST(NcclText, TakesAnotherCommunicatorAtAPointerThatIsUsedAgain) {
  const CommunicationLog log =
      log_of(nccl_init(0, 4, "a", 0, "commId 0xd") + nccl_call(0, "AllReduce", 8, "a", 4) +
             nccl_prefix(0) + " NCCL INFO comm 0xa rank 0 nranks 4 - Destroy COMPLETE\n" +
             nccl_init(0, 2, "a", 1, "commId 0xe") + nccl_call(0, "AllReduce", 8, "a", 2));
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("all_reduce", 4), Pair(1, 32)),
                                                 Pair(Pair("all_reduce", 2), Pair(1, 32))));
}

TEST(NcclText, ReadsTwoMessagesInALine) {
  std::string first = nccl_call(0, "AllReduce", 8, "a", 2);
  first.pop_back();
  const CommunicationLog log =
      log_of(nccl_init(0, 2, "a", 0, "commId 0xd") + nccl_init(1, 2, "a", 1, "commId 0xd") +
             "[default0]:" + first + nccl_call(1, "AllReduce", 8, "a", 2));
  EXPECT_THAT(sums_of(log), ElementsAre(Pair(Pair("all_reduce", 2), Pair(2, 64))));
  EXPECT_EQ(log.unexplained(), 0);
}

TEST(NcclText, CountsEveryLineThatItCannotExplain) {
  const std::string whole = nccl_call(0, "AllReduce", 8, "a", 2);
  const CommunicationLog log =
      log_of(whole + whole.substr(0, 90) + "\nepoch 1\n" + nccl_call(0, "AllRepeat", 8, "a", 2) +
             nccl_call(0, "AllReduce", 8, "a", 2, 0, "1", 77) + nccl_prefix(0) +
             " NCCL INFO AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x1 count 99999999999999999999 "
             "datatype 7 op 0 root 0 comm 0xa [nranks=2] stream 0x9\n");
  EXPECT_EQ(log.records.size(), 1U);
  EXPECT_EQ(log.unexplained(), 5);
  EXPECT_EQ(log.sources[0].first[1].line, 3);
}

TEST(NcclText, CountsAnExchangeThatWasWrittenAsMessagesOnce) {
  std::string text = nccl_init(0, 2, "a", 0, "commId 0xd") + nccl_init(1, 2, "a", 1, "commId 0xd");
  for (int peer = 0; peer < 2; ++peer) {
    text += nccl_call(0, "Send", 8, "a", 2, peer) + nccl_call(0, "Recv", 8, "a", 2, peer);
  }
  text += nccl_call(0, "Send", 8, "a", 2, 1, "1b");
  EXPECT_THAT(sums_of(log_of(text)), UnorderedElementsAre(Pair(Pair("all_to_all", 2), Pair(1, 64)),
                                                          Pair(Pair("send", 2), Pair(1, 32))));
}

TEST(NcclText, CountsLinesOfTuningWhereNoneOfCollDo) {
  const std::string tuning =
      nccl_prefix(0) +
      " NCCL INFO AllGather: 400 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..7}\n";
  const std::string init = nccl_init(0, 4, "a", 0, "commId 0xd");
  EXPECT_THAT(sums_of(log_of(init + tuning)),
              ElementsAre(Pair(Pair("all_gather", 4), Pair(1, 1600))));
  EXPECT_THAT(sums_of(log_of(init + tuning + nccl_call(0, "AllGather", 100, "a", 4))),
              ElementsAre(Pair(Pair("all_gather", 4), Pair(1, 1600))));
}

TEST(NcclText, TellsRunsOfAJobThatWasStartedAgain) {
  std::string text = nccl_init(0, 2, "a", 0, "commId 0xd") + nccl_call(0, "AllReduce", 8, "a", 2);
  std::string again = nccl_init(0, 2, "a", 0, "commId 0xf") + nccl_call(0, "AllReduce", 8, "a", 2);
  for (std::size_t at = 0; (at = again.find(":10:", at)) != std::string::npos;)
    again.replace(at, 4, ":77:");
  const CommunicationLog log = log_of(text + again);
  ASSERT_EQ(log.records.size(), 2U);
  EXPECT_EQ(log.records[0].run, 0);
  EXPECT_EQ(log.records[1].run, 1);
}

}  // namespace
}  // namespace stepwright::logs
