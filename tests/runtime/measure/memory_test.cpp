// The executor's memory, by kind, equals the program's tensor lifetimes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/folder.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {
namespace {

constexpr const char* kSharedGate =
    "{layers: 3, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250, experts: {count: 8, "
    "top_k: 2, ffn: 16, shared_ffn: 24, shared_gate: true, leading_dense: 1}}";
/// Overlap choices with which nothing runs concurrently with the compute stream, so that operators
/// execute in the order of issue.
constexpr const char* kInOrder =
    "overlap: {gradients: false, parameters: false, tensor_gradients: false, pipeline: false, "
    "context: false}\n";

struct MemoryCase {
  const char* name;
  int ranks;
  const char* model;
  const char* choices;
  const char* precision = "fp32";
  const char* job = "";
};
std::ostream& operator<<(std::ostream& out, const MemoryCase& one) { return out << one.name; }

const MemoryCase kMemoryCases[] = {
    {"OneProcess", 1, kLlama, "micro_batch: 2\n"},
    {"Narrow", 1, kTied, "micro_batch: 2\n", "bf16"},
    {"Recomputed", 1, kQwen3, "micro_batch: 2\nrecompute: full\n"},
    {"RecomputedCore", 1, kLlama, "micro_batch: 2\nrecompute: selective\n"},
    {"Dropout", 1, kDropping, "micro_batch: 2\n"},
    {"DropoutNarrow", 2, kDropping,
     "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\nrecompute: selective\n",
     "bf16"},
    {"Tensor", 2, kTied, "parallel: {tensor: 2}\nmicro_batch: 2\n"},
    {"SequenceKept", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: keep\nmicro_batch: 2\n"},
    {"SequenceRegathered", 2, kLlama,
     "parallel: {tensor: 2}\nsequence_parallel: true\ntensor_input: regather\nmicro_batch: 2\n",
     "bf16"},
    {"Pipeline", 4, kTied, "parallel: {pipeline: 4}\nmicro_batch: 1\n"},
    {"Interleaved", 2, kLlama,
     "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: interleaved, chunks: 2}\n"},
    {"Ring", 2, kLlama, "parallel: {context: 2}\nmicro_batch: 2\n"},
    {"Ulysses", 2, kLlama, "parallel: {context: 2}\ncontext_kind: ulysses\nmicro_batch: 2\n"},
    {"Experts", 1, kSharedGate, "micro_batch: 2\n"},
    {"ExpertsExchanged", 4, kSharedGate,
     "parallel: {data: 4, expert: 2, expert_tensor: 2}\nmicro_batch: 1\n", "bf16"},
    {"ExpertsRecomputed", 2, kSharedGate,
     "parallel: {tensor: 2, expert: 2}\nsequence_parallel: true\nmicro_batch: 2\n"
     "recompute: full\n"},
    {"FullyShardedStates", 4, kTied, "parallel: {data: 4}\nmicro_batch: 1\nsharding: GGG\n",
     "bf16"},
    {"ShardedInGroups", 4, kLlama,
     "parallel: {data: 4}\nmicro_batch: 1\nsharding: {states: IIG, group: 2}\n"},
    {"NarrowMoments", 2, kLlama, "parallel: {data: 2}\nmicro_batch: 1\nsharding: NNG\n", "bf16",
     "  optimizer: adam_bf16\n"},
    {"OneMomentOfMatrices", 1, kTied, "micro_batch: 2\n", "fp32", "  optimizer: muon\n"},
    {"EightBits", 2, kTied, "parallel: {tensor: 2}\nmicro_batch: 2\n", "bf16",
     "  optimizer: adam8bit\n"},
    {"EightBitsSplit", 4, kLlama,
     "parallel: {data: 4}\nmicro_batch: 1\nsharding: {states: NIG, group: 2}\n", "fp32",
     "  optimizer: adam8bit\n"},
    {"OneMomentOwned", 2, kLlama, "parallel: {data: 2}\nmicro_batch: 1\nsharding: NNG\n", "bf16",
     "  optimizer: muon\n"},
    {"OneMomentSplit", 4, kLlama, "parallel: {data: 4}\nmicro_batch: 1\nsharding: GGG\n", "bf16",
     "  optimizer: muon\n"},
    {"SumsOfMatrices", 4, kTied,
     "parallel: {tensor: 2, pipeline: 2}\nsequence_parallel: true\nmicro_batch: 2\n", "bf16",
     "  optimizer: adafactor\n"},
    {"SumsSplit", 4, kLlama, "parallel: {data: 4}\nmicro_batch: 1\nsharding: NGG\n", "fp64",
     "  optimizer: adafactor\n"},
    {"SumsOfExperts", 4, kSharedGate,
     "parallel: {data: 4, expert: 2}\nmicro_batch: 1\n"
     "sharding: {states: IIG, group: 2, expert_group: 2}\n",
     "fp32", "  optimizer: adafactor\n"},
};

/// Returns the ranks in the file that a run with `--memory` writes.
nlohmann::json counted(const MemoryCase& one, const std::string& order) {
  const Folder folder;
  const auto path = folder / "memory.json";
  const Trained run = train({.plan = plan_text_of({.model = one.model,
                                                   .precision = one.precision,
                                                   .job = one.job,
                                                   .choices = one.choices + order,
                                                   .ranks = one.ranks}),
                             .steps = 2,
                             .options = {"--memory", path.string()}});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  std::ifstream file(path);
  const nlohmann::json all = nlohmann::json::parse(file);
  EXPECT_EQ(all["stepwright"], "counted-memory/1");
  EXPECT_EQ(all["ranks"].size(), static_cast<std::size_t>(one.ranks));
  return all["ranks"];
}

double sum_of(const nlohmann::json& kinds) {
  double sum = 0;
  for (const auto& [kind, bytes] : kinds.items()) sum += bytes.get<double>();
  return sum;
}

class Memory : public ::testing::TestWithParam<MemoryCase> {};

TEST_P(Memory, IsCountedAsPredictedInOrder) {
  for (const nlohmann::json& rank : counted(GetParam(), kInOrder)) {
    EXPECT_EQ(rank["counted"], rank["predicted"]);
    EXPECT_GT(rank["counted"]["activations"], 0);
    const double buffers = rank["allocated_bytes"].get<double>() -
                           rank["kernel_bytes"].get<double>() + rank["shared_bytes"].get<double>();
    EXPECT_EQ(buffers, sum_of(rank["counted"]));
    EXPECT_GE(rank["kernel_bytes"], 0);
  }
}

/// The machine decides how far messages run ahead or lag, so a peak may not be reached; it is
/// exceeded at most by a bucket that one micro-batch reduces while the next one runs.
class MemoryBeside : public ::testing::TestWithParam<const char*> {};

TEST_P(MemoryBeside, StaysWithinThePrediction) {
  constexpr const char* kDeep = "{layers: 8, hidden: 64, heads: 4, ffn: 192, vocab: 250}";
  const std::string choices = std::string(
                                  "parallel: {data: 4}\nmicro_batch: 1\n"
                                  "buckets: {gradients: 30000, parameters: 30000}\n") +
                              GetParam();
  for (const nlohmann::json& rank : counted({"Beside", 4, kDeep, choices.c_str()}, "")) {
    const double predicted = sum_of(rank["predicted"]);
    EXPECT_LE(sum_of(rank["counted"]), 1.05 * predicted) << rank.dump(1);
    EXPECT_GE(sum_of(rank["counted"]), 0.8 * predicted) << rank.dump(1);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, MemoryBeside,
                         ::testing::Values("sharding: NNN\n", "sharding: GGG\n",
                                           "sharding: {states: IIG, group: 2}\n",
                                           "sharding: {states: NIG, group: 2}\n"));

INSTANTIATE_TEST_SUITE_P(All, Memory, ::testing::ValuesIn(kMemoryCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace stepwright::testing
