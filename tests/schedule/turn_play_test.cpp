#include "stepwright/schedule/turn_play.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stepwright/core/error.h"
#include "stepwright/schedule/closed_form.h"
#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/found/all_turns.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {
namespace {

struct Uniform {
  std::int64_t stages;
  std::int64_t micro_batches;
  double forward, backward, weight;
};

PipelineScheduleSeconds seconds_of(const Uniform& u, std::int64_t chunks) {
  const auto v = static_cast<double>(chunks);
  const ModelChunkWorkSeconds part{.forward = u.forward / v,
                                   .backward = u.backward / v,
                                   .data = (u.backward - u.weight) / v,
                                   .weight = u.weight / v};
  return {.parts = {static_cast<std::size_t>(u.stages),
                    std::vector<ModelChunkWorkSeconds>(static_cast<std::size_t>(chunks), part)},
          .hop_s = 0};
}

double played_s(const PipelineSchedule& schedule, const Uniform& u) {
  const ModelChunkPlacement placement(ModelChunkPlacementKind::kCyclic, u.stages, schedule.chunks);
  ScheduleTurnSimulator player;
  return makespan_s(
      player.turn_end_seconds(schedule_turns_of_positions(schedule, u.stages, u.micro_batches),
                              placement, seconds_of(u, schedule.chunks)));
}

// Each round is a forward, a backward and a meeting. By hand for P = 2, M = 3, with F = 1, B = 2,
// and 0.5, 0.25 and 0.125 for head, embedding and its gradient: before the rounds the first
// embedding; F + F + head + embedding, then B + F + ..., until the last has no forward.
TEST(TurnPlay, PositionsBeginAndEndTogetherWhatTheyShare) {
  const PipelineSchedule schedule{PipelineScheduleKind::kSpreadVocabulary, 1};
  PipelineScheduleSeconds seconds = seconds_of({2, 3, 1, 2, 0}, 1);
  for (std::vector<ModelChunkWorkSeconds>& position : seconds.parts) {
    position.front().embed = 0.25;
    position.front().predict = 0.5;
    position.front().embed_gradient = 0.125;
  }
  const ModelChunkPlacement placement(ModelChunkPlacementKind::kCyclic, 2, 1);
  ScheduleTurnSimulator player;
  const auto played_s = [&](std::int64_t count) {
    return makespan_s(player.turn_end_seconds(schedule_turns_of_positions(schedule, 2, count),
                                              placement, seconds));
  };
  const double first_s = 0.25 + (1 + 1) + 0.5 + 0.25;
  const double second_s = (2 + 1) + 0.5 + 0.25;
  const double third_s = (1 + 2) + 0.5 + 0.125;
  EXPECT_DOUBLE_EQ(played_s(3), first_s + second_s + third_s + (2 + 0.125) + (2 + 0.125));
  const double round_s = 3 + 0.5 + 0.25 + 0.125;
  EXPECT_NEAR(played_s(12) - played_s(11), round_s, 1e-12);
}

TEST(TurnPlay, HalfAsManyAgainWaitWhereTheVocabularyIsSpread) {
  for (std::int64_t stages = 2; stages <= 16; stages += 2) {
    const auto waiting = [&](PipelineScheduleKind kind) {
      std::int32_t most = 0;
      const auto turns = schedule_turns_of_positions({kind, 1}, stages, 4 * stages);
      for (const WaitingMicroBatches& moment : peak_memory_moments(turns.front(), 1)) {
        const bool forward = moment.part.direction == Direction::kForward;
        most = std::max(most, moment.backward.front() + (forward ? 1 : 0));
      }
      return most;
    };
    EXPECT_EQ(waiting(PipelineScheduleKind::kSpreadVocabulary), stages + stages / 2);
    EXPECT_EQ(waiting(PipelineScheduleKind::kOneForwardOneBackward), stages);
  }
}

std::int32_t most_waiting(PipelineScheduleKind kind, std::int64_t stages, std::int64_t position) {
  std::int32_t most = 0;
  const auto turns = schedule_turns_of_positions({kind, 1}, stages, 4 * stages);
  for (const WaitingMicroBatches& moment :
       peak_memory_moments(turns[static_cast<std::size_t>(position)], 1)) {
    const bool forward = moment.part.direction == Direction::kForward;
    most = std::max(most, moment.backward.front() + (forward ? 1 : 0));
  }
  return most;
}

// 2411.05288: p + 2 micro-batches wait with two barriers, p + 1 with one.
TEST(TurnPlay, AsManyMoreWaitAsThereAreBarriers) {
  for (std::int64_t stages = 2; stages <= 17; ++stages) {
    for (std::int64_t position = 0; position < stages; ++position) {
      const std::int64_t waiting = stages - position;
      EXPECT_EQ(most_waiting(PipelineScheduleKind::kVocabularyOne, stages, position), waiting + 2);
      EXPECT_EQ(most_waiting(PipelineScheduleKind::kVocabularyTwo, stages, position), waiting + 1);
    }
  }
}

// A round is one forward, one backward and the passes of one micro-batch, and two messages at most
// that nothing hides; of three positions three.
TEST(TurnPlay, PassesHideTheirMessages) {
  for (const PipelineScheduleKind kind :
       {PipelineScheduleKind::kVocabularyOne, PipelineScheduleKind::kVocabularyTwo}) {
    for (std::int64_t stages = 2; stages <= 17; ++stages) {
      PipelineScheduleSeconds seconds = seconds_of({stages, 1, 1, 2, 0}, 1);
      seconds.passes.resize(static_cast<std::size_t>(stages));
      for (VocabularyPassSeconds& position : seconds.passes) {
        for (const Direction everywhere : {Direction::kLogits, Direction::kLogitGradient}) {
          position.is_there[vocabulary_pass_index(everywhere)] = true;
        }
        position.own[vocabulary_pass_index(Direction::kLogits)] = 0.1;
        position.own[vocabulary_pass_index(Direction::kLogitGradient)] = 0.2;
        for (const Direction posting :
             {Direction::kEmbeddingLookUp, Direction::kHandRows, Direction::kLogits,
              Direction::kSumGradient, Direction::kHandGradient}) {
          position.messages[vocabulary_pass_index(posting)] = 0.02;
        }
      }
      const auto add = [](VocabularyPassSeconds& position, Direction pass) {
        position.is_there[vocabulary_pass_index(pass)] = true;
        position.own[vocabulary_pass_index(pass)] = 0.01;
      };
      add(seconds.passes.front(), Direction::kTakeRows);
      add(seconds.passes.back(), Direction::kTakeGradient);
      const ModelChunkPlacement placement(ModelChunkPlacementKind::kCyclic, stages, 1);
      ScheduleTurnSimulator player;
      const auto played_s = [&](std::int64_t count) {
        return makespan_s(player.turn_end_seconds(
            schedule_turns_of_positions({kind, 1}, stages, count), placement, seconds));
      };
      const double rounds = 2 * static_cast<double>(stages);
      const double round_s = (played_s(8 * stages) - played_s(6 * stages)) / rounds;
      EXPECT_GE(round_s, 3.3 - 1e-9) << stages;
      EXPECT_LE(round_s, 3.31 + (stages == 3 ? 3 : 2) * 0.02 + 1e-9) << stages;
    }
  }
}

// (M + P - 1) (F + B), worked by hand for P = 4, M = 16: 19 x 3 = 57.
TEST(TurnPlay, OneForwardOneBackwardAndGpipeTakeOneFillAndOneDrain) {
  for (const PipelineScheduleKind kind :
       {PipelineScheduleKind::kOneForwardOneBackward, PipelineScheduleKind::kGpipe}) {
    EXPECT_DOUBLE_EQ(played_s({kind, 1}, {4, 16, 1, 2, 1}), 57);
    EXPECT_DOUBLE_EQ(played_s({kind, 1}, {3, 2, 1, 2, 1}), 12);
  }
}

// M (F + B) + (P - 1) (F + B) / v: 48 + 9 / v for P = 4, M = 16.
TEST(TurnPlay, ChunksDivideTheBubble) {
  for (const std::int64_t chunks : {2, 3, 4}) {
    EXPECT_NEAR(played_s({PipelineScheduleKind::kInterleaved, chunks}, {4, 16, 1, 2, 1}),
                48 + 9.0 / static_cast<double>(chunks), 1e-12);
  }
}

// M (F + B) + (P - 1) (F + B - 2 W) for M >= P, W <= F, W <= B - W (2401.10241): 48 + 3.
TEST(TurnPlay, ZeroBubbleH1HasItsClosedForm) {
  EXPECT_DOUBLE_EQ(played_s({PipelineScheduleKind::kZeroBubbleH1, 1}, {4, 16, 1, 2, 1}), 51);
  for (const std::int64_t stages : {2, 3, 5, 8}) {
    for (const std::int64_t micro_batches : {stages, stages + 1, 3 * stages}) {
      for (const auto& [f, b, w] : {std::array{1.0, 2.0, 1.0}, {1.0, 2.0, 0.5}, {1.2, 2.3, 1.1}}) {
        const double closed = static_cast<double>(micro_batches) * (f + b) +
                              static_cast<double>(stages - 1) * (f + b - 2 * w);
        EXPECT_NEAR(
            played_s({PipelineScheduleKind::kZeroBubbleH1, 1}, {stages, micro_batches, f, b, w}),
            closed, 1e-9)
            << stages << " stages, " << micro_batches << " micro-batches, W " << w;
      }
    }
  }
}

TEST(TurnPlay, TurnsOfTwoPartsTakeThePairedTime) {
  // One position: F0, then F1 concurrently with B0, then B1.
  const PipelineWorkPart f0{Direction::kForward, 0, 0};
  const PipelineWorkPart f1{Direction::kForward, 0, 1};
  const PipelineWorkPart b0{Direction::kBackward, 0, 0};
  const PipelineWorkPart b1{Direction::kBackward, 0, 1};
  const std::vector<Turns> turns{{{f0, std::nullopt}, {f1, b0}, {b1, std::nullopt}}};
  PipelineScheduleSeconds seconds{.parts = {{{.forward = 1, .backward = 2}}}, .hop_s = 0};
  ScheduleTurnSimulator player;
  EXPECT_DOUBLE_EQ(makespan_s(player.turn_end_seconds(turns, ModelChunkPlacement(), seconds)), 6);
  seconds.parts[0][0].beside.backward = {2.4};
  EXPECT_DOUBLE_EQ(makespan_s(player.turn_end_seconds(turns, ModelChunkPlacement(), seconds)), 5.4);
}

TEST(TurnPlay, AForwardBesideAPartOfABackwardTakesThatPairsTime) {
  // F0, then F1 concurrently with D0, then D1, then W0, W1.
  const PipelineWorkPart f0{Direction::kForward, 0, 0};
  const PipelineWorkPart f1{Direction::kForward, 0, 1};
  const auto alone = [](Direction direction, std::int32_t i) {
    return PipelineScheduleTurn{{direction, 0, i}, std::nullopt};
  };
  const std::vector<Turns> turns{{{f0, std::nullopt},
                                  {f1, PipelineWorkPart{Direction::kDataGradient, 0, 0}},
                                  alone(Direction::kDataGradient, 1),
                                  alone(Direction::kWeightGradient, 0),
                                  alone(Direction::kWeightGradient, 1)}};
  PipelineScheduleSeconds seconds{
      .parts = {{{.forward = 1, .backward = 3, .data = 2, .weight = 1}}}};
  seconds.parts[0][0].beside.backward = {3.5};
  ScheduleTurnSimulator player;
  EXPECT_DOUBLE_EQ(makespan_s(player.turn_end_seconds(turns, ModelChunkPlacement(), seconds)), 8);
  seconds.parts[0][0].beside.data = {2.25};
  EXPECT_DOUBLE_EQ(makespan_s(player.turn_end_seconds(turns, ModelChunkPlacement(), seconds)),
                   7.25);
}

/// Returns DualPipeV's turns in which forward passes of the fill that follow a data gradient and
/// its weight gradient run beside them.
Turns with_pairs_in_the_fill(const Turns& turns) {
  Turns paired;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool cut = turns[i].part.direction == Direction::kDataGradient && i + 2 < turns.size() &&
                     turns[i + 1].part.direction == Direction::kWeightGradient &&
                     turns[i + 2].part.direction == Direction::kForward;
    if (!cut) {
      paired.push_back(turns[i]);
      continue;
    }
    PipelineWorkPart backward = turns[i].part;
    backward.direction = Direction::kBackward;
    paired.push_back({turns[i + 2].part, backward});
    i += 2;
  }
  return paired;
}

TEST(TurnPlay, PairsInTheFillOfDualPipeVMakeItLonger) {
  ScheduleTurnSimulator player;
  for (const std::int64_t stages : {4, 8}) {
    for (const std::int64_t rounds : {2, 4}) {
      for (const double paired_s : {2.1, 2.4, 2.7, 3.0}) {
        ModelChunkWorkSeconds part{.forward = 1, .backward = 2, .data = 1, .weight = 1};
        part.beside.backward = {paired_s, paired_s};
        const PipelineScheduleSeconds seconds{
            .parts = {static_cast<std::size_t>(stages),
                      std::vector<ModelChunkWorkSeconds>(2, part)}};
        const PipelineSchedule schedule{PipelineScheduleKind::kDualPipeV, 2};
        const std::vector<Turns> turns =
            schedule_turns_of_positions(schedule, stages, rounds * stages);
        std::vector<Turns> more;
        for (const Turns& list : turns) more.push_back(with_pairs_in_the_fill(list));
        const ModelChunkPlacement v = model_chunk_placement(schedule, stages);
        const double plain_s = makespan_s(player.turn_end_seconds(turns, v, seconds));
        const double more_s = makespan_s(player.turn_end_seconds(more, v, seconds));
        EXPECT_GT(more_s, 1.04 * plain_s);
        EXPECT_LT(more_s, 1.14 * plain_s);
      }
    }
  }
}

TEST(TurnPlay, NothingIsSentToTheOwnPosition) {
  // A V of two positions: down 0, 1 and up 1, 0; one hop each way and each direction.
  const ModelChunkPlacement v(ModelChunkPlacementKind::kV, 2, 2);
  const auto turns_of = [](std::int32_t first, std::int32_t second) {
    return Turns{{{Direction::kForward, first, 0}, std::nullopt},
                 {{Direction::kForward, second, 0}, std::nullopt},
                 {{Direction::kBackward, second, 0}, std::nullopt},
                 {{Direction::kBackward, first, 0}, std::nullopt}};
  };
  const std::vector<ModelChunkWorkSeconds> chunks(2, {.forward = 1, .backward = 2});
  ScheduleTurnSimulator player;
  const PipelineScheduleSeconds seconds{.parts = {chunks, chunks}, .hop_s = 0.25};
  EXPECT_DOUBLE_EQ(
      makespan_s(player.turn_end_seconds(std::vector{turns_of(0, 1), turns_of(0, 1)}, v, seconds)),
      4 + 8 + 4 * 0.25);
}

TEST(TurnPlay, ATurnThatWaitsForeverIsNamed) {
  const std::vector<Turns> turns{
      {{{Direction::kBackward, 0, 0}, std::nullopt}, {{Direction::kForward, 0, 0}, std::nullopt}}};
  ScheduleTurnSimulator player;
  const PipelineScheduleSeconds seconds{.parts = {{{.forward = 1, .backward = 1}}}, .hop_s = 0};
  EXPECT_THROW(player.turn_end_seconds(turns, ModelChunkPlacement(), seconds), Error);
}

// --- Closed forms equal the simulated turns. ---

/// Returns, by a position's turns, the micro-batches of each chunk that are in flight when the
/// position has the most.
std::vector<int> fullest(const PipelineSchedule& schedule, const PipelinePositionSizes& at) {
  std::vector<int> waiting(static_cast<std::size_t>(schedule.chunks), 0);
  std::vector<int> found = waiting;
  int most = 0;
  int all = 0;
  for (const PipelineWorkPart& part : work_items_in_issue_order(schedule_turns_of_positions(
           schedule, at.stages, at.micro_batches)[static_cast<std::size_t>(at.position)])) {
    const int change = part.direction == Direction::kForward ? 1 : -1;
    waiting[static_cast<std::size_t>(part.chunk)] += change;
    all += change;
    if (all > most) most = all, found = waiting;
  }
  return found;
}

/// Returns, by the closed form, the micro-batches of each chunk that are in flight when a position
/// has the most.
std::vector<int> counted(const PipelineSchedule& schedule, const PipelinePositionSizes& at) {
  std::vector<int> waiting;
  for (std::int64_t chunk = 0; chunk < schedule.chunks; ++chunk) {
    waiting.push_back(static_cast<int>(definition_of(schedule.kind).form.waiting(at, chunk)));
  }
  return waiting;
}

TEST(ScheduleForms, CountTheMicroBatchesThatWaitWhenMostDo) {
  for (const PipelineSchedule& schedule :
       {PipelineSchedule{PipelineScheduleKind::kGpipe, 1},
        PipelineSchedule{PipelineScheduleKind::kOneForwardOneBackward, 1},
        PipelineSchedule{PipelineScheduleKind::kInterleaved, 2},
        PipelineSchedule{PipelineScheduleKind::kInterleaved, 5}}) {
    for (const std::int64_t stages : {2, 3, 8}) {
      for (const std::int64_t m : {stages, stages + 1, 2 * stages, 5 * stages, 5 * stages - 1}) {
        for (std::int64_t position = 0; position < stages; ++position) {
          const PipelinePositionSizes at{stages, position, m, schedule.chunks};
          EXPECT_EQ(counted(schedule, at), fullest(schedule, at));
        }
      }
    }
  }
}

/// Expects the closed form and the simulated turns to give the same seconds.
void expect_same_seconds(const PipelineSchedule& schedule, std::int64_t stages, std::int64_t m) {
  const auto p = static_cast<std::size_t>(stages);
  const std::vector<double> forward(p, 1.0);
  const std::vector<double> backward(p, 2.25);
  const std::vector<double> chunk(static_cast<std::size_t>(schedule.chunks),
                                  3.25 / static_cast<double>(schedule.chunks));
  EXPECT_NEAR(definition_of(schedule.kind).form.seconds(m, {forward, backward, chunk, 0}),
              played_s(schedule, {stages, m, 1.0, 2.25, 1.0}), 1e-9)
      << stages << " stages, " << m << " micro-batches in groups of " << schedule.group;
}

TEST(ScheduleForms, GiveTheSecondsOfThePlayedTurnsForEqualPositions) {
  for (const PipelineSchedule& schedule :
       {PipelineSchedule{PipelineScheduleKind::kGpipe, 1},
        PipelineSchedule{PipelineScheduleKind::kOneForwardOneBackward, 1},
        PipelineSchedule{PipelineScheduleKind::kInterleaved, 2},
        PipelineSchedule{PipelineScheduleKind::kInterleaved, 4}}) {
    for (const std::int64_t stages : {2, 3, 8}) {
      for (const std::int64_t m : {stages, 4 * stages}) expect_same_seconds(schedule, stages, m);
    }
  }
}

TEST(ScheduleForms, HoldForEveryGroupOfMicroBatches) {
  for (const std::int64_t stages : {2, 3, 4}) {
    for (std::int64_t m = stages; m <= 4 * stages + 1; ++m) {
      for (std::int64_t group = stages; group <= m; ++group) {
        if (!is_legal_group_size(group, stages, m)) continue;
        const PipelineSchedule schedule{
            .kind = PipelineScheduleKind::kInterleaved, .chunks = 3, .group = group};
        expect_same_seconds(schedule, stages, m);
        for (std::int64_t position = 0; position < stages; ++position) {
          const PipelinePositionSizes at{stages, position, m, schedule.chunks, group};
          EXPECT_EQ(counted(schedule, at), fullest(schedule, at));
        }
      }
    }
  }
}

TEST(ScheduleForms, NoTurnOfPairedGroupsWaitsForever) {
  ScheduleTurnSimulator player;
  for (const std::int64_t stages : {2, 3, 4}) {
    for (std::int64_t m = stages; m <= 4 * stages + 1; ++m) {
      const PipelineSchedule schedule{.kind = PipelineScheduleKind::kPaired, .chunks = 2};
      const Uniform u{stages, m, 1.0, 2.0, 1.0};
      const PipelineScheduleSeconds seconds = seconds_of(u, 2);
      EXPECT_NO_THROW(player.turn_end_seconds(schedule_turns_of_positions(schedule, stages, m),
                                              model_chunk_placement(schedule, stages), seconds));
    }
  }
}

/// A pipeline of unequal chunks, and the closed form's input for it.
struct UnequalSplit {
  PipelineScheduleSeconds seconds;
  std::vector<double> forward, backward, slowest;
};

/// Returns chunks of a few layers, some with one more.
UnequalSplit unequal_split(std::size_t stages, std::size_t chunks, std::mt19937& random) {
  const double least = 1 + static_cast<double>(random() % 4);
  UnequalSplit split{
      .seconds = {.parts = {stages, std::vector<ModelChunkWorkSeconds>(chunks)}, .hop_s = 0},
      .forward = std::vector<double>(stages),
      .backward = std::vector<double>(stages),
      .slowest = std::vector<double>(chunks)};
  for (std::size_t position = 0; position < stages; ++position) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const double layers = least + (random() % 5 < 2 ? 1 : 0);
      split.seconds.parts[position][chunk] = {.forward = layers, .backward = 2 * layers};
      split.forward[position] += layers;
      split.backward[position] += 2 * layers;
      split.slowest[chunk] = std::max(split.slowest[chunk], 3 * layers);
    }
  }
  return split;
}

TEST(ScheduleForms, PriceUnequalInterleavedChunksOnTheSafeSide) {
  std::mt19937 random(1);
  double sum = 0;
  constexpr int kSplits = 200;
  for (int i = 0; i < kSplits; ++i) {
    const std::size_t stages = std::size_t{2} << random() % 3;
    const std::size_t chunks = 2 + random() % 4;
    const auto m = static_cast<std::int64_t>(stages * (std::size_t{2} << random() % 3));
    const UnequalSplit split = unequal_split(stages, chunks, random);
    const PipelineSchedule schedule{PipelineScheduleKind::kInterleaved,
                                    static_cast<std::int64_t>(chunks)};
    const auto p = static_cast<std::int64_t>(stages);
    ScheduleTurnSimulator player;
    const double played = makespan_s(player.turn_end_seconds(
        schedule_turns_of_positions(schedule, p, m),
        ModelChunkPlacement(ModelChunkPlacementKind::kCyclic, p, schedule.chunks), split.seconds));
    const double closed = definition_of(schedule.kind)
                              .form.seconds(m, {split.forward, split.backward, split.slowest, 0});
    const double error = closed / played - 1;
    EXPECT_GT(error, -0.08);
    EXPECT_LT(error, 0.15);
    sum += error / kSplits;
  }
  EXPECT_NEAR(sum, 0.03, 0.01);
}

}  // namespace
}  // namespace stepwright::schedule
