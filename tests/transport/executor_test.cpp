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
std::vector<Numbers> outputs(const collective::ScheduleSpec& spec, std::size_t piece,
                             InFlightMessageLimits limits) {
  const collective::CollectiveSchedule schedule = collective::generate(spec);
  ThreadSwitch hub;
  std::vector<Numbers> result(schedule.ranks.size());
  as_ranks(collective::schedule_rank_count(spec), [&](std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    Numbers input(static_cast<std::size_t>(schedule.input_pieces) * piece);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = given(rank, i);
    Numbers scratch(static_cast<std::size_t>(schedule.scratch_pieces) * piece, kUnwritten);
    result[r].assign(static_cast<std::size_t>(schedule.output_pieces) * piece, kUnwritten);
    const RankCollectiveBuffers memory{bytes_of(input), bytes_of(result[r]), bytes_of(scratch),
                                       static_cast<std::int64_t>(piece * sizeof(std::int64_t))};
    ThreadTransport transport(hub, rank);
    ScheduleExecutor(limits).run(schedule.ranks[r], memory, {.type = ElementType::kInt64},
                                 transport);
  });
  return result;
}

/// Returns the number that the operation must give at index `i` of the output of `rank`; nullopt:
/// any.
std::optional<std::int64_t> due(collective::Collective collective, std::int32_t ranks,
                                std::int32_t rank, std::size_t i, std::size_t block) {
  const auto sum = [&](std::size_t place) {
    std::int64_t total = 0;
    for (std::int32_t r = 0; r < ranks; ++r) total += given(r, place);
    return total;
  };
  const auto owner = static_cast<std::int32_t>(i / block);
  switch (collective) {
    case collective::Collective::kAllReduce: return sum(i);
    case collective::Collective::kAllGather: return given(owner, i % block);
    case collective::Collective::kReduceScatter:
      return sum(static_cast<std::size_t>(rank) * block + i);
    case collective::Collective::kAllToAll:
      return given(owner, static_cast<std::size_t>(rank) * block + i % block);
    case collective::Collective::kBroadcast: return given(0, i);
    case collective::Collective::kReduce: return rank == 0 ? std::optional(sum(i)) : std::nullopt;
    default: return {};
  }
}

void expect_promised(const collective::ScheduleSpec& spec, std::size_t piece,
                     InFlightMessageLimits limits = {}) {
  const std::vector<Numbers> result = outputs(spec, piece, limits);
  const std::size_t block = static_cast<std::size_t>(collective::pieces_per_block(spec)) * piece;
  for (std::int32_t rank = 0; rank < collective::schedule_rank_count(spec); ++rank) {
    const Numbers& numbers = result[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto promised =
          due(spec.collective, collective::schedule_rank_count(spec), rank, i, block);
      if (promised) {
        ASSERT_EQ(numbers[i], *promised) << "rank " << rank << ", place " << i;
      }
    }
  }
}

struct Shape {
  collective::Algorithm method;
  std::vector<std::int32_t> tiers;
  std::int32_t chunks;
};

class EveryAlgorithm : public testing::TestWithParam<Shape> {};

TEST_P(EveryAlgorithm, GivesWhatItPromises) {
  int covered = 0;
  for (const collective::Collective collective :
       {collective::Collective::kAllReduce, collective::Collective::kAllGather,
        collective::Collective::kReduceScatter, collective::Collective::kAllToAll,
        collective::Collective::kBroadcast, collective::Collective::kReduce}) {
    const auto& [method, tiers, chunks] = GetParam();
    const collective::ScheduleSpec spec{method, collective, tiers, chunks};
    if (collective::no_schedule_reason(spec)) continue;
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
      for (const auto& [method, name] : collective::kGeneratedAlgorithmNames) {
        if (method == collective::Algorithm::kHalvingDoubling && tiers[0] * tiers[1] % 3 == 0)
          continue;
        if (method == collective::Algorithm::kRailHalving && tiers[1] % 3 == 0) continue;
        result.push_back({method, tiers, chunks});
      }
    }
  }
  result.push_back({collective::Algorithm::kHoRing, {2, 2, 2}, 3});
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

TEST(ScheduleExecutor, CutsLongMessages) {
  for (const collective::Collective collective :
       {collective::Collective::kAllReduce, collective::Collective::kAllGather,
        collective::Collective::kReduceScatter}) {
    for (const collective::Algorithm method :
         {collective::Algorithm::kHoRing, collective::Algorithm::kHalvingDoubling}) {
      for (const std::size_t in_flight : {1, 2, 5}) {
        expect_promised({method, collective, {2, 2}, 2}, 41,
                        {.message_bytes = 48, .in_flight = in_flight});
      }
    }
  }
}

TEST(ScheduleExecutor, CarriesNothing) {
  expect_promised({collective::Algorithm::kHoRing, collective::Collective::kAllReduce, {2, 2}, 3},
                  0);
}

TEST(ScheduleExecutor, HoldsAFewMessages) {
  const collective::ScheduleSpec pair{
      collective::Algorithm::kRing, collective::Collective::kReduceScatter, {2, 1}, 1};
  const collective::CollectiveSchedule schedule = collective::generate(pair);
  ThreadSwitch hub;
  std::vector<std::int64_t> staging(2);
  as_ranks(2, [&](std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    Numbers input(2048);
    Numbers output(1024);
    Numbers scratch(static_cast<std::size_t>(schedule.scratch_pieces) * 1024);
    ScheduleExecutor executor({.message_bytes = 512, .in_flight = 3});
    ThreadTransport transport(hub, rank);
    for (int repeat = 0; repeat < 3; ++repeat) {
      executor.run(schedule.ranks[r], {bytes_of(input), bytes_of(output), bytes_of(scratch), 8192},
                   {.type = ElementType::kInt64}, transport);
    }
    staging[r] = executor.staging_bytes();
  });
  EXPECT_EQ(staging, (std::vector<std::int64_t>{1536, 1536}));
}

TEST(ScheduleExecutor, EndsAllChannelsWhenOneFails) {
  const collective::ScheduleSpec spec{
      collective::Algorithm::kHoRing, collective::Collective::kAllReduce, {2, 2}, 2};
  const collective::CollectiveSchedule schedule = collective::generate(spec);
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
      ScheduleExecutor().run(schedule.ranks[r],
                             {bytes_of(input), bytes_of(output), bytes_of(scratch), 8},
                             {.type = ElementType::kInt64}, transport);
    } catch (const Error& error) {
      failed[r] = error.kind() == ErrorKind::kRuntime ? 1 : 2;
    }
  });
  EXPECT_EQ(failed, (std::vector<int>{1, 1, 1, 0}));
}

TEST(ScheduleExecutor, RefusesLimitsThatBoundNothing) {
  EXPECT_THROW(ScheduleExecutor({.message_bytes = 0}), Error);
  EXPECT_THROW(ScheduleExecutor({.message_bytes = 24}), Error);
  EXPECT_THROW(ScheduleExecutor({.in_flight = 0}), Error);
}

}  // namespace
}  // namespace stepwright::transport
