#include "tests/collective_files/numbers.h"

#include <gtest/gtest.h>

namespace stepwright::collective_files {
namespace {

void add_small(collective::CollectiveAlgorithm method, collective::CollectiveOperation collective,
               std::vector<collective::CollectiveScheduleSpec>& specs) {
  for (const std::vector<std::int32_t>& tiers :
       {std::vector<std::int32_t>{2, 2}, {3, 3}, {4, 1}, {1, 4}, {2, 4}}) {
    for (const collective::IntraGroupPattern inner :
         {collective::IntraGroupPattern::kDirect, collective::IntraGroupPattern::kRing}) {
      const collective::CollectiveScheduleSpec spec{method, collective, tiers, 2, inner};
      if (!collective::reason_no_collective_schedule_exists(spec)) specs.push_back(spec);
    }
  }
}

}  // namespace

Pieces inputs_of(const collective::CollectiveSchedule& schedule) {
  Pieces inputs(schedule.ranks.size());
  for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
    for (std::int32_t piece = 0; piece < schedule.input_pieces; ++piece) {
      inputs[rank].push_back((std::int64_t{1} << (2 * rank)) * 1000 + piece);
    }
  }
  return inputs;
}

std::int64_t expected(const collective::CollectiveSchedule& schedule, const Pieces& inputs,
                      std::size_t rank, std::size_t piece) {
  const std::size_t block = static_cast<std::size_t>(schedule.pieces) / inputs.size();
  std::int64_t sum = 0;
  switch (schedule.collective) {
    case collective::CollectiveOperation::kAllGather: return inputs[piece / block][piece % block];
    case collective::CollectiveOperation::kAllToAll:
      return inputs[piece / block][rank * block + piece % block];
    case collective::CollectiveOperation::kBroadcast: return inputs[0][piece];
    case collective::CollectiveOperation::kReduceScatter: piece += rank * block; break;
    default: break;
  }
  for (const auto& input : inputs) sum += input[piece];
  return sum;
}

void expect_outputs(const collective::CollectiveSchedule& schedule, const Pieces& inputs,
                    const Pieces& outputs) {
  const bool to_one = schedule.collective == collective::CollectiveOperation::kReduce;
  for (std::size_t rank = 0; rank < (to_one ? 1 : outputs.size()); ++rank) {
    for (std::size_t piece = 0; piece < outputs[rank].size(); ++piece) {
      ASSERT_EQ(outputs[rank][piece], expected(schedule, inputs, rank, piece))
          << "rank " << rank << " piece " << piece;
    }
  }
}

std::vector<collective::CollectiveScheduleSpec> small_specs(
    const std::vector<collective::CollectiveOperation>& collectives) {
  std::vector<collective::CollectiveScheduleSpec> specs;
  for (const auto& [method, name] : collective::kGeneratedCollectiveAlgorithmNames) {
    for (const collective::CollectiveOperation collective : collectives)
      add_small(method, collective, specs);
  }
  return specs;
}

}  // namespace stepwright::collective_files
