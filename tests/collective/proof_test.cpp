#include "stepwright/collective/proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/generate.h"
#include "stepwright/collective/rank_writer.h"

namespace stepwright::collective {
namespace {

/// Lanes of a two-tier schedule, and their channels.
constexpr std::size_t kInsideSends = 0;
constexpr std::size_t kRailSends = 2;
constexpr std::size_t kRailReceives = 3;

CollectiveSchedule all_reduce(std::int32_t chunks = 2) {
  return generate_collective_schedule(
      {CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllReduce, {3, 4}, chunks});
}

RankStepSequence& channel(CollectiveSchedule& schedule, std::size_t rank, std::size_t number) {
  return schedule.ranks.at(rank).channels.at(number);
}

/// Returns the defect of `schedule` after the change `breaks`; unexpected kinds are shown as text.
std::optional<CollectiveScheduleDefectKind> found(
    CollectiveSchedule schedule, const std::function<void(CollectiveSchedule&)>& breaks) {
  breaks(schedule);
  const auto defect = find_collective_schedule_defect(schedule);
  return defect ? std::optional(defect->kind) : std::nullopt;
}

TEST(Proof, FindsNothingInASoundSchedule) {
  EXPECT_EQ(found(all_reduce(), [](CollectiveSchedule&) {}), std::nullopt);
}

TEST(Proof, FindsPiecesAndPeersThatDoNotExist) {
  EXPECT_EQ(found(all_reduce(),
                  [](CollectiveSchedule& s) { channel(s, 1, kRailSends).steps[0].peer = 12; }),
            CollectiveScheduleDefectKind::kMalformed);
  EXPECT_EQ(found(all_reduce(),
                  [](CollectiveSchedule& s) { channel(s, 1, kRailSends).steps[0].pieces = 99; }),
            CollectiveScheduleDefectKind::kMalformed);
  EXPECT_EQ(found(all_reduce(),
                  [](CollectiveSchedule& s) {
                    channel(s, 1, kRailReceives).steps[0].target = input_piece(0);
                  }),
            CollectiveScheduleDefectKind::kMalformed);
  EXPECT_EQ(found(all_reduce(),
                  [](CollectiveSchedule& s) { channel(s, 1, kRailSends).waits[0].on = {9, 0}; }),
            CollectiveScheduleDefectKind::kMalformed);
}

TEST(Proof, FindsASendThatNobodyReceives) {
  EXPECT_EQ(found(generate_collective_schedule(
                      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllGather, {4}}),
                  [](CollectiveSchedule& s) { channel(s, 2, 1).steps.pop_back(); }),
            CollectiveScheduleDefectKind::kDeadlock);
}

TEST(Proof, FindsWaitsInACircle) {
  EXPECT_EQ(found(generate_collective_schedule(
                      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllGather, {4}}),
                  [](CollectiveSchedule& s) { channel(s, 2, 1).waits.push_back({0, {0, 1}}); }),
            CollectiveScheduleDefectKind::kDeadlock);
}

/// All ranks send before they receive, which works only with buffers, and none are promised.
TEST(Proof, FindsARingOfSendsOnOneChannel) {
  CollectiveSchedule ring = generate_collective_schedule(
      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllGather, {4}});
  for (RankCollectiveSchedule& rank : ring.ranks) {
    RankStepSequence both;
    for (std::size_t i = 0; i < rank.channels[0].steps.size(); ++i) {
      both.steps.push_back(rank.channels[0].steps[i]);
      both.steps.push_back(rank.channels[1].steps[i]);
    }
    rank.channels = {both, rank.channels[2]};
  }
  EXPECT_EQ(found(ring, [](CollectiveSchedule&) {}), CollectiveScheduleDefectKind::kDeadlock);
}

TEST(Proof, FindsEndsOfUnlikeLength) {
  const CollectiveSchedule tree = generate_collective_schedule(
      {CollectiveAlgorithm::kHalvingDoubling, CollectiveOperation::kAllGather, {4}});
  EXPECT_EQ(found(tree, [](CollectiveSchedule& s) { channel(s, 1, 1).steps[1].pieces = 1; }),
            CollectiveScheduleDefectKind::kMismatch);
}

TEST(Proof, FindsMessagesWithoutOrder) {
  EXPECT_EQ(found(generate_collective_schedule(
                      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllGather, {4}}),
                  [](CollectiveSchedule& s) {
                    RankCollectiveSchedule& rank = s.ranks[0];
                    rank.channels.push_back({.lane = 0, .steps = {rank.channels[1].steps.back()}});
                    rank.channels[1].steps.pop_back();
                    rank.channels.back().steps[0].peer = rank.channels[1].steps[0].peer;
                  }),
            CollectiveScheduleDefectKind::kAmbiguous);
}

TEST(Proof, FindsReadsOfNothing) {
  EXPECT_EQ(
      found(all_reduce(),
            [](CollectiveSchedule& s) { channel(s, 0, kInsideSends).steps[0].source = output(5); }),
      CollectiveScheduleDefectKind::kUnwritten);
}

TEST(Proof, FindsASumThatIsOverwrittenWhileItIsSent) {
  const CollectiveSchedule sound = generate_collective_schedule(
      {CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllReduce, {3, 6}});
  const auto& receives = sound.ranks[0].channels[kInsideSends + 1];
  ASSERT_FALSE(receives.waits.empty());  // Scratch is used again after four stages.
  EXPECT_EQ(
      found(sound, [](CollectiveSchedule& s) { channel(s, 0, kInsideSends + 1).waits.clear(); }),
      CollectiveScheduleDefectKind::kConflict);
}

TEST(Proof, FindsAReadThatDoesNotWait) {
  EXPECT_EQ(found(generate_collective_schedule(
                      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllGather, {4}}),
                  [](CollectiveSchedule& s) { channel(s, 0, 0).waits.clear(); }),
            CollectiveScheduleDefectKind::kUnwritten);
}

TEST(Proof, FindsAContributionThatCountsTwice) {
  EXPECT_EQ(found(generate_collective_schedule(
                      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllReduce, {4}}),
                  [](CollectiveSchedule& s) {
                    CollectiveScheduleStep& added = channel(s, 0, 1).steps[1];
                    added.source = input_piece(added.source.piece + 1);
                  }),
            CollectiveScheduleDefectKind::kTwice);
}

TEST(Proof, FindsBlocksThatChangePlaces) {
  EXPECT_EQ(found(generate_collective_schedule(
                      {CollectiveAlgorithm::kDirect, CollectiveOperation::kAllToAll, {4}}),
                  [](CollectiveSchedule& s) {
                    std::swap(channel(s, 0, 1).steps[1].target, channel(s, 0, 1).steps[2].target);
                  }),
            CollectiveScheduleDefectKind::kWrongResult);
}

/// True if a change of rank 1's step at `at` is detected.
template <class Body>
bool change_is_found(const CollectiveSchedule& sound, CollectiveStepReference at, Body body) {
  return found(sound,
               [&](CollectiveSchedule& s) {
                 body(channel(s, 1, static_cast<std::size_t>(at.channel)).steps, at.step);
               })
      .has_value();
}

void expect_changes_found(const CollectiveSchedule& sound, CollectiveStepReference at,
                          const CollectiveScheduleStep& step) {
  EXPECT_TRUE(step.peer == 0 || change_is_found(sound, at, [](auto& steps, std::int32_t i) {
                steps[static_cast<std::size_t>(i)].peer = 0;
              }));
  EXPECT_TRUE(change_is_found(sound, at,
                              [](auto& steps, std::int32_t i) {
                                CollectiveScheduleStep& changed =
                                    steps[static_cast<std::size_t>(i)];
                                PieceRunStart& place =
                                    reads(changed) ? changed.source : changed.target;
                                place.piece = (place.piece + 1) & kMaxSchedulePiecesPerBuffer;
                              }))
      << "channel " << at.channel << " step " << at.step;
  EXPECT_TRUE(change_is_found(sound, at,
                              [](auto& steps, std::int32_t i) { steps.erase(steps.begin() + i); }));
}

/// Every field of every step matters, and omitting any step is detected.
TEST(Proof, FindsEveryChangeOfOneStep) {
  for (const CollectiveAlgorithm method :
       {CollectiveAlgorithm::kHoRing, CollectiveAlgorithm::kRing, CollectiveAlgorithm::kTwoLevel,
        CollectiveAlgorithm::kRings}) {
    const CollectiveSchedule sound =
        generate_collective_schedule({method, CollectiveOperation::kAllReduce, {2, 3}, 2});
    const auto& channels = sound.ranks[1].channels;
    for (std::int32_t c = 0; c < std::ssize(channels); ++c) {
      const auto& steps = channels[static_cast<std::size_t>(c)].steps;
      for (std::int32_t i = 0; i < std::ssize(steps); ++i) {
        expect_changes_found(sound, {c, i}, steps[static_cast<std::size_t>(i)]);
      }
    }
  }
}

/// True if a schedule is refused without wait `w` of channel `c` of rank 4.
bool needs_wait(const CollectiveSchedule& sound, std::size_t c, std::size_t w) {
  return found(sound,
               [&](CollectiveSchedule& s) {
                 auto& waits = channel(s, 4, c).waits;
                 waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(w));
               })
      .has_value();
}

void expect_no_idle_wait(const CollectiveSchedule& sound) {
  for (std::size_t c = 0; c < sound.ranks[4].channels.size(); ++c) {
    for (std::size_t w = 0; w < sound.ranks[4].channels[c].waits.size(); ++w) {
      EXPECT_TRUE(needs_wait(sound, c, w)) << "channel " << c << " wait " << w;
    }
  }
}

/// None of these waits is superfluous.
TEST(Proof, FindsEveryWaitThatIsLeftOut) {
  for (const CollectiveOperation collective :
       {CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter,
        CollectiveOperation::kAllReduce}) {
    expect_no_idle_wait(
        generate_collective_schedule({CollectiveAlgorithm::kHoRing, collective, {3, 5}, 2}));
    expect_no_idle_wait(
        generate_collective_schedule({CollectiveAlgorithm::kRailHalving, collective, {3, 4}, 2}));
  }
}

TEST(Generate, SaysWhyThereIsNoSchedule) {
  EXPECT_TRUE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kHalvingDoubling, CollectiveOperation::kAllReduce, {6}}));
  EXPECT_TRUE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRelay, CollectiveOperation::kAllReduce, {2, 2}}));
  EXPECT_TRUE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRailHalving, CollectiveOperation::kAllReduce, {2, 6}}));
  EXPECT_FALSE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRailHalving, CollectiveOperation::kAllReduce, {6, 2}}));
  EXPECT_TRUE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRings, CollectiveOperation::kAllReduce, {256, 2}}));
  EXPECT_TRUE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRings, CollectiveOperation::kAllReduce, {8, 1 << 25}}));
  EXPECT_FALSE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRings, CollectiveOperation::kAllReduce, {8, 1 << 20}}));
  EXPECT_TRUE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllReduce, {4}, 0}));
  EXPECT_TRUE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllReduce, {0}}));
  EXPECT_TRUE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllReduce, {1 << 20, 1 << 20}}));
  EXPECT_FALSE(reason_no_collective_schedule_exists(
      {CollectiveAlgorithm::kRing, CollectiveOperation::kAllReduce, {1}}));
}

TEST(Algorithms, RowsStandInTheOrderOfTheEnumerators) {
  for (std::size_t i = 0; i < std::size(kAlgorithmRows); ++i) {
    const auto& [algorithm, name, definition] = kAlgorithmRows[i];
    EXPECT_EQ(algorithm, static_cast<CollectiveAlgorithm>(i)) << name;
    EXPECT_FALSE(definition->text.empty()) << name;
    const bool generated = std::ranges::find(kGeneratedCollectiveAlgorithmNames, algorithm,
                                             &Named<CollectiveAlgorithm>::value) !=
                           std::end(kGeneratedCollectiveAlgorithmNames);
    EXPECT_EQ(algorithm_has_generated_schedule(algorithm), generated) << name;
    EXPECT_EQ(definition->seconds != nullptr, generated) << name;
  }
}

}  // namespace
}  // namespace stepwright::collective
