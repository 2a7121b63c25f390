#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stepwright/collective/generate.h"
#include "stepwright/core/error.h"
#include "stepwright/transport/schedule_executor.h"
#include "tests/transport/thread_transport.h"

namespace stepwright::transport {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kUnwritten = -7;

std::span<std::byte> bytes_of(Numbers& numbers) {
  return std::as_writable_bytes(std::span(numbers));
}

/// Returns the input of rank `rank` at index `i`; all are different.
std::int64_t given(std::int32_t rank, std::size_t i) {
  return (std::int64_t{rank} + 1) * 1'000'003 + static_cast<std::int64_t>(i) * 31;
}

/// Runs `act` for each rank in a thread of its own.
void as_ranks(std::int32_t ranks, const std::function<void(std::int32_t)>& act) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(ranks));
  for (std::int32_t r = 0; r < ranks; ++r) threads.emplace_back([&act, r] { act(r); });
  for (std::thread& thread : threads) thread.join();
}

/// Returns the outputs of all ranks, run as threads, with pieces of `piece` numbers.
std::vector<Numbers> outputs(const collective::CollectiveScheduleSpec& spec, std::size_t piece,
                             InFlightMessageLimits limits) {
  const collective::CollectiveSchedule schedule = collective::generate_collective_schedule(spec);
  ThreadSwitch hub;
  std::vector<Numbers> result(schedule.ranks.size());
  as_ranks(collective::collective_schedule_rank_count(spec), [&](std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    Numbers input(static_cast<std::size_t>(schedule.input_pieces) * piece);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = given(rank, i);
    Numbers scratch(static_cast<std::size_t>(schedule.scratch_pieces) * piece, kUnwritten);
    result[r].assign(static_cast<std::size_t>(schedule.output_pieces) * piece, kUnwritten);
    const RankCollectiveBuffers memory{bytes_of(input), bytes_of(result[r]), bytes_of(scratch),
                                       static_cast<std::int64_t>(piece * sizeof(std::int64_t))};
    ThreadTransport transport(hub, rank);
    CollectiveScheduleExecutor(limits).run_rank_schedule(
        schedule.ranks[r], memory, {.type = ReductionElementType::kInt64}, transport);
  });
  return result;
}

/// Returns the number that the operation must give at index `i` of the output of `rank`; nullopt:
/// any.
std::optional<std::int64_t> due(collective::CollectiveOperation collective, std::int32_t ranks,
                                std::int32_t rank, std::size_t i, std::size_t block) {
  const auto sum = [&](std::size_t place) {
    std::int64_t total = 0;
    for (std::int32_t r = 0; r < ranks; ++r) total += given(r, place);
    return total;
  };
  const auto owner = static_cast<std::int32_t>(i / block);
  switch (collective) {
    case collective::CollectiveOperation::kAllReduce: return sum(i);
    case collective::CollectiveOperation::kAllGather: return given(owner, i % block);
    case collective::CollectiveOperation::kReduceScatter:
      return sum(static_cast<std::size_t>(rank) * block + i);
    case collective::CollectiveOperation::kAllToAll:
      return given(owner, static_cast<std::size_t>(rank) * block + i % block);
    case collective::CollectiveOperation::kBroadcast: return given(0, i);
    case collective::CollectiveOperation::kReduce:
      return rank == 0 ? std::optional(sum(i)) : std::nullopt;
    default: return {};
  }
}

void expect_promised(const collective::CollectiveScheduleSpec& spec, std::size_t piece,
                     InFlightMessageLimits limits = {}) {
  const std::vector<Numbers> result = outputs(spec, piece, limits);
  const std::size_t block = static_cast<std::size_t>(collective::pieces_per_block(spec)) * piece;
  for (std::int32_t rank = 0; rank < collective::collective_schedule_rank_count(spec); ++rank) {
    const Numbers& numbers = result[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto promised =
          due(spec.collective, collective::collective_schedule_rank_count(spec), rank, i, block);
      if (promised) {
        ASSERT_EQ(numbers[i], *promised) << "rank " << rank << ", place " << i;
      }
    }
  }
}

struct Shape {
  collective::CollectiveAlgorithm method;
  std::vector<std::int32_t> tiers;
  std::int32_t chunks;
};

class EveryAlgorithm : public testing::TestWithParam<Shape> {};

TEST_P(EveryAlgorithm, GivesWhatItPromises) {
  int covered = 0;
  for (const collective::CollectiveOperation collective :
       {collective::CollectiveOperation::kAllReduce, collective::CollectiveOperation::kAllGather,
        collective::CollectiveOperation::kReduceScatter, collective::CollectiveOperation::kAllToAll,
        collective::CollectiveOperation::kBroadcast, collective::CollectiveOperation::kReduce}) {
    const auto& [method, tiers, chunks] = GetParam();
    const collective::CollectiveScheduleSpec spec{method, collective, tiers, chunks};
    if (collective::reason_no_collective_schedule_exists(spec)) continue;
    ++covered;
    expect_promised(spec, 3);
  }
  EXPECT_GT(covered, 0);
}

std::vector<Shape> shapes() {
  std::vector<Shape> result;
  for (const std::vector<std::int32_t>& tiers :
       {std::vector<std::int32_t>{1, 1}, {2, 1}, {1, 3}, {2, 2}, {3, 2}, {2, 4}, {4, 2}}) {
    for (const std::int32_t chunks : {1, 2, 5}) {
      for (const auto& [method, name] : collective::kGeneratedCollectiveAlgorithmNames) {
        if (method == collective::CollectiveAlgorithm::kHalvingDoubling &&
            tiers[0] * tiers[1] % 3 == 0)
          continue;
        if (method == collective::CollectiveAlgorithm::kRailHalving && tiers[1] % 3 == 0) continue;
        result.push_back({method, tiers, chunks});
      }
    }
  }
  result.push_back({collective::CollectiveAlgorithm::kHoRing, {2, 2, 2}, 3});
  return result;
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryAlgorithm, testing::ValuesIn(shapes()),
                         [](const auto& shape) {
                           std::string name(
                               name_of(collective::kCollectiveAlgorithmNames, shape.param.method));
                           std::erase(name, '-');
                           for (const std::int32_t size : shape.param.tiers)
                             name += fmt::format("_{}", size);
                           return fmt::format("{}_c{}_{}", name, shape.param.chunks, shape.index);
                         });

TEST(CollectiveScheduleExecutor, CutsLongMessages) {
  for (const collective::CollectiveOperation collective :
       {collective::CollectiveOperation::kAllReduce, collective::CollectiveOperation::kAllGather,
        collective::CollectiveOperation::kReduceScatter}) {
    for (const collective::CollectiveAlgorithm method :
         {collective::CollectiveAlgorithm::kHoRing,
          collective::CollectiveAlgorithm::kHalvingDoubling}) {
      for (const std::size_t in_flight : {1, 2, 5}) {
        expect_promised({method, collective, {2, 2}, 2}, 41,
                        {.message_bytes = 48, .in_flight = in_flight});
      }
    }
  }
}

TEST(CollectiveScheduleExecutor, CarriesNothing) {
  expect_promised({collective::CollectiveAlgorithm::kHoRing,
                   collective::CollectiveOperation::kAllReduce,
                   {2, 2},
                   3},
                  0);
}

TEST(CollectiveScheduleExecutor, HoldsAFewMessages) {
  const collective::CollectiveScheduleSpec pair{collective::CollectiveAlgorithm::kRing,
                                                collective::CollectiveOperation::kReduceScatter,
                                                {2, 1},
                                                1};
  const collective::CollectiveSchedule schedule = collective::generate_collective_schedule(pair);
  ThreadSwitch hub;
  std::vector<std::int64_t> staging(2);
  as_ranks(2, [&](std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    Numbers input(2048);
    Numbers output(1024);
    Numbers scratch(static_cast<std::size_t>(schedule.scratch_pieces) * 1024);
    CollectiveScheduleExecutor executor({.message_bytes = 512, .in_flight = 3});
    ThreadTransport transport(hub, rank);
    for (int repeat = 0; repeat < 3; ++repeat) {
      executor.run_rank_schedule(schedule.ranks[r],
                                 {bytes_of(input), bytes_of(output), bytes_of(scratch), 8192},
                                 {.type = ReductionElementType::kInt64}, transport);
    }
    staging[r] = executor.receive_staging_buffer_bytes();
  });
  EXPECT_EQ(staging, (std::vector<std::int64_t>{1536, 1536}));
}

TEST(CollectiveScheduleExecutor, EndsAllChannelsWhenOneFails) {
  const collective::CollectiveScheduleSpec spec{collective::CollectiveAlgorithm::kHoRing,
                                                collective::CollectiveOperation::kAllReduce,
                                                {2, 2},
                                                2};
  const collective::CollectiveSchedule schedule = collective::generate_collective_schedule(spec);
  ThreadSwitch hub;
  std::vector<int> failed(4);
  as_ranks(4, [&](std::int32_t rank) {
    if (rank == 3) return hub.close();  // It dies.
    const auto r = static_cast<std::size_t>(rank);
    Numbers input(static_cast<std::size_t>(schedule.input_pieces));
    Numbers output(static_cast<std::size_t>(schedule.output_pieces));
    Numbers scratch(static_cast<std::size_t>(schedule.scratch_pieces));
    ThreadTransport transport(hub, rank);
    try {
      CollectiveScheduleExecutor().run_rank_schedule(
          schedule.ranks[r], {bytes_of(input), bytes_of(output), bytes_of(scratch), 8},
          {.type = ReductionElementType::kInt64}, transport);
    } catch (const Error& error) {
      failed[r] = error.kind() == ErrorKind::kRuntime ? 1 : 2;
    }
  });
  EXPECT_EQ(failed, (std::vector<int>{1, 1, 1, 0}));
}

TEST(CollectiveScheduleExecutor, RefusesLimitsThatBoundNothing) {
  EXPECT_THROW(CollectiveScheduleExecutor({.message_bytes = 0}), Error);
  EXPECT_THROW(CollectiveScheduleExecutor({.message_bytes = 24}), Error);
  EXPECT_THROW(CollectiveScheduleExecutor({.in_flight = 0}), Error);
}

}  // namespace
}  // namespace stepwright::transport
