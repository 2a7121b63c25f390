#include <gtest/gtest.h>

#include "stepwright/cost/cost_model.h"
#include "tests/cost/jobs.h"

namespace stepwright {
namespace {

constexpr double kGibi = 1073741824;
constexpr double kMicro = 1e-6;
constexpr double kClose = 0.01 * kMicro;
constexpr OperatorKind kMessages[] = {OperatorKind::kAllReduce,     OperatorKind::kAllGather,
                                      OperatorKind::kReduceScatter, OperatorKind::kAllToAll,
                                      OperatorKind::kShift,         OperatorKind::kSend,
                                      OperatorKind::kReceive};

/// Groups of `size` ranks at `stride`.
struct Place {
  std::int64_t size, stride;
};
constexpr Place kPlaces[] = {{2, 1}, {8, 1}, {16, 1}, {32, 1}, {4, 4}, {2, 8}, {4, 8}, {8, 4}};

/// A message of groups on two or more nodes of eight A100.
OperatorTime message(OperatorKind kind, double bytes, Place place,
                     Algorithm algorithm = Algorithm::kRing, const Job& job = a100_job()) {
  return CostModel(job).message(kind, bytes, strided_layout(job.cluster, place.size, place.stride),
                                algorithm);
}

double busbw(OperatorTime time, double sent) { return sent / time.seconds; }

TEST(MessageCost, InsideANodeTheLinkSetsTheTime) {
  // 7/8 GiB at .74 * (1 - .2/7) * 300e9 = 215.657e9: 4356.565 us; 7 hops 17.5 us; start 20 us.
  for (const auto kind : {OperatorKind::kAllGather, OperatorKind::kReduceScatter}) {
    const OperatorTime time = message(kind, kGibi, {8, 1});
    EXPECT_NEAR(time.seconds, 4394.065 * kMicro, kClose);
    EXPECT_EQ(time.link, LinkClass::kInside);
  }
  // 14/8 GiB at .78 * (1 - .2/7) * 300e9 = 227.314e9: 8266.304 us; 14 hops 35 us; start 20 us.
  EXPECT_NEAR(message(OperatorKind::kAllReduce, kGibi, {8, 1}).seconds, 8321.304 * kMicro, kClose);
  // 7/8 GiB at .7 * (1 - .2/7) * 300e9 = 204e9: 4605.511 us; 7 peers 4.375 us; start 20 us.
  EXPECT_NEAR(message(OperatorKind::kAllToAll, kGibi, {8, 1}).seconds, 4629.886 * kMicro, kClose);
  // 1 GiB at .8 * 300e9: 4473.924 us; one hop 2.5 us; start 20 us.
  EXPECT_NEAR(message(OperatorKind::kSend, kGibi, {4, 1}).seconds, 4496.424 * kMicro, kClose);
}

TEST(MessageCost, SisterGroupsShareTheNicsOfANode) {
  // Four nodes, groups of four at stride 8: eight of them share 8 * 25e9, each has 25e9 * .65.
  // 2 * 3/4 GiB at 16.25e9: 99114.630 us; 6 hops 30 us; start 20 us.
  const OperatorTime time =
      message(OperatorKind::kAllReduce, kGibi, {4, 8}, Algorithm::kRing, a100_job(4));
  EXPECT_NEAR(time.seconds, 99164.630 * kMicro, kClose);
  EXPECT_EQ(time.link, LinkClass::kNetwork);
}

TEST(MessageCost, ARingOverWholeNodesHasAllTheirNics) {
  // 2 * 15/16 GiB at 8 * 25e9 * .65: 15486.661 us; 2 * (13 * 2.5 + 2 * 5) us of hops; 20 us.
  const OperatorTime time = message(OperatorKind::kAllReduce, kGibi, {16, 1});
  EXPECT_NEAR(time.seconds, 15591.661 * kMicro, kClose);
  EXPECT_EQ(time.link, LinkClass::kNetwork);
}

TEST(MessageCost, AnAllToAllSendsTheShareOfEveryOutsidePeer) {
  // Per node 8 * 8 peers * GiB/16 at 130e9: 33038.210 us; peers .25 * (7 * 2.5 + 8 * 5); 20 us.
  const OperatorTime time = message(OperatorKind::kAllToAll, kGibi, {16, 1});
  EXPECT_NEAR(time.seconds, 33072.585 * kMicro, kClose);
  EXPECT_EQ(time.link, LinkClass::kNetwork);
}

TEST(MessageCost, APipelineTransferHasOneNic) {
  // Two stages of a node each: eight ranks send at once; 64 MiB at 25e9 * .65: 4129.776 us; 25 us.
  const double bytes = 67108864;
  EXPECT_NEAR(message(OperatorKind::kSend, bytes, {2, 8}).seconds, 4154.776 * kMicro, kClose);
  // Stages of four: only four ranks send out of the node, but each through its own NIC.
  EXPECT_EQ(message(OperatorKind::kSend, bytes, {4, 4}).seconds,
            message(OperatorKind::kSend, bytes, {2, 8}).seconds);
  // Stages within a node stay on NVLink.
  EXPECT_EQ(message(OperatorKind::kSend, bytes, {2, 4}).link, LinkClass::kInside);
  EXPECT_LT(message(OperatorKind::kSend, bytes, {2, 4}).seconds,
            message(OperatorKind::kSend, bytes, {2, 8}).seconds / 10);
}

TEST(MessageCost, SendReceiveAndShiftAreOneTransfer) {
  const double send = message(OperatorKind::kSend, 1e6, {2, 8}).seconds;
  EXPECT_EQ(message(OperatorKind::kReceive, 1e6, {2, 8}).seconds, send);
  EXPECT_EQ(message(OperatorKind::kShift, 1e6, {2, 8}).seconds, send);
}

TEST(MessageCost, TwoLevelCollectivesGoInsideAndBetweenInTurn) {
  // Inside 4356.565 us as above; rails 1/2 GiB at 130e9: 4129.776 us; hops 7 * 2.5 + 5; two starts.
  EXPECT_NEAR(message(OperatorKind::kAllGather, kGibi, {16, 1}, Algorithm::kTwoLevel).seconds,
              8548.841 * kMicro, kClose);
}

TEST(MessageCost, TwoLevelWinsOnlyWhereNicsAreFarSlowerThanLinks) {
  const auto gain = [](double nic, std::int64_t nodes) {
    Job job = nodes_of_eight(nodes, 450e9, nic);
    job.cluster.device = h100_job().cluster.device;
    return message(OperatorKind::kAllGather, kGibi, {8 * nodes, 1}, Algorithm::kRing, job).seconds /
           message(OperatorKind::kAllGather, kGibi, {8 * nodes, 1}, Algorithm::kTwoLevel, job)
               .seconds;
  };
  // sharding_and_rings 10: serial phases lose on balanced machines (1.36 times the time).
  EXPECT_NEAR(1 / gain(50e9, 2), 1.36, 0.2);
  EXPECT_GT(gain(3e9, 2), 1.5);
}

TEST(MessageCost, TwoLevelIsTheRingInsideANodeAndForDirectMessages) {
  for (const auto kind : kMessages) {
    EXPECT_EQ(message(kind, 1e8, {8, 1}, Algorithm::kTwoLevel).seconds,
              message(kind, 1e8, {8, 1}).seconds);
    EXPECT_EQ(message(kind, 1e8, {2, 8}, Algorithm::kTwoLevel).seconds,
              message(kind, 1e8, {2, 8}).seconds);
  }
  for (const auto kind : {OperatorKind::kAllToAll, OperatorKind::kSend}) {
    EXPECT_EQ(message(kind, 1e8, {16, 1}, Algorithm::kTwoLevel).seconds,
              message(kind, 1e8, {16, 1}).seconds);
  }
}

TEST(MessageCost, TheLayoutOfAGroupDecides) {
  // Galvatron's profile: 8 ranks reach 155.7 GB/s inside a node, 20.8 strided over two, 2 ranks of
  // different nodes 8.1: the order and more than a factor of three between the first two.
  const double bytes = 1e9;
  const double inside = busbw(message(OperatorKind::kAllReduce, bytes, {8, 1}), 1.75 * bytes);
  const double strided = busbw(message(OperatorKind::kAllReduce, bytes, {8, 2}), 1.75 * bytes);
  const double across = busbw(message(OperatorKind::kAllReduce, bytes, {2, 8}), bytes);
  EXPECT_GT(inside, 3 * strided);
  EXPECT_GT(strided, 3 * across);
}

TEST(MessageCost, AnOversubscribedSpineSlowsWhatCrossesIt) {
  Job job = a100_job(4);
  job.cluster.levels[1].size = 16;
  Level spine = job.cluster.levels[1];
  spine.size = 32;
  spine.uplink_bytes_per_s = 2 * 8 * 25e9 / 4;
  job.cluster.levels.push_back(spine);
  const auto gather = [&](std::int64_t size) {
    return message(OperatorKind::kAllGather, kGibi, {size, 1}, Algorithm::kRing, job).seconds;
  };
  EXPECT_NEAR(gather(32) / gather(16), 2 * (31.0 / 32) / (15.0 / 16), 0.02);
}

TEST(MessageCost, ANodeWithFewNicsSharesThem) {
  Job job = a100_job();
  job.cluster.nics_per_node = 1;
  job.cluster.levels[1].uplink_bytes_per_s = 25e9;
  EXPECT_NEAR(message(OperatorKind::kSend, 1e9, {2, 8}, Algorithm::kRing, job).seconds,
              1e9 / (25e9 / 8 * 0.65), 1e-4);
}

TEST(MessageCost, SmallMessagesCostStartsAndHops) {
  // Eight ranks: fast start 7.5 us and 14 hops of .45 * 2.5 us.
  EXPECT_NEAR(message(OperatorKind::kAllReduce, 4, {8, 1}).seconds, 23.25 * kMicro, kClose);
  // A number summed over 16,384 ranks goes up and down a tree: 7.5 + 2 * (7 * 1.125 + 11 * 5).
  EXPECT_NEAR(
      message(OperatorKind::kAllReduce, 4, {16384, 1}, Algorithm::kRing, a100_job(2048)).seconds,
      133.25 * kMicro, kClose);
}

TEST(MessageCost, AGroupOfOneTakesNoTime) {
  for (const auto kind : kMessages) {
    const OperatorTime time = message(kind, 1e9, {1, 1});
    EXPECT_EQ(time.seconds, 0);
    EXPECT_EQ(time.link, LinkClass::kNone);
  }
}

void expect_growth(OperatorKind kind, Place place, Algorithm algorithm) {
  double last = 0;
  for (std::int64_t bytes = 1; bytes < 100'000'000'000; bytes += 1 + bytes / 2) {
    const double seconds =
        message(kind, static_cast<double>(bytes), place, algorithm, a100_job(4)).seconds;
    EXPECT_GT(seconds, last) << bytes << " bytes, " << place.size << " at " << place.stride;
    last = seconds;
  }
}

TEST(MessageCost, MoreBytesTakeMore) {
  for (const auto kind : kMessages) {
    for (const Place place : kPlaces) {
      expect_growth(kind, place, Algorithm::kRing);
      expect_growth(kind, place, Algorithm::kTwoLevel);
    }
  }
}

TEST(MessageCost, NothingIsFasterThanTheLineRates) {
  for (const auto kind :
       {OperatorKind::kAllReduce, OperatorKind::kAllGather, OperatorKind::kSend}) {
    for (const Place place : kPlaces) {
      const Job job = a100_job(4);
      const GroupLayout layout = strided_layout(job.cluster, place.size, place.stride);
      const auto collective = kind == OperatorKind::kAllReduce   ? Collective::kAllReduce
                              : kind == OperatorKind::kAllGather ? Collective::kAllGather
                                                                 : Collective::kPointToPoint;
      const LevelLoads loads = level_loads(collective, Carrier::kRing, 1e9, layout, 1);
      const double seconds = CostModel(job).message(kind, 1e9, layout, Algorithm::kRing).seconds;
      for (int i = 0; i <= layout.span; ++i) {
        EXPECT_GE(seconds, loads[i].bytes * static_cast<double>(layout.sharers[i]) /
                               job.cluster.levels[i].uplink_bytes_per_s);
      }
    }
  }
}

}  // namespace
}  // namespace stepwright
