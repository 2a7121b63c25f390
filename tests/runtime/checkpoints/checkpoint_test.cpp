// Checkpoints of runs: under the same plan a run continues bit by bit, under any other within
// rounding.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "stepwright/checkpoint/directory.h"
#include "stepwright/checkpoint/index.h"
#include "tests/folder.h"
#include "tests/port.h"
#include "tests/runtime/launch/running.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSavedModel =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250}";
constexpr const char* kTiedModel =
    "{layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 251, norm: layernorm, gated: false, "
    "position: learned, positions: 20, bias: true, tied: true}";

constexpr const char* kExpertModel =
    "{layers: 3, hidden: 36, heads: 6, kv_heads: 2, ffn: 48, vocab: 250, experts: {count: 4, "
    "top_k: 2, ffn: 14, shared_ffn: 20, shared_gate: true, leading_dense: 1}}";

struct Choices {
  const char* text;
  int ranks;
};
constexpr Choices kOne{"micro_batch: 2\n", 1};
constexpr Choices kTensorData{
    "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 1\nsharding: NNG\n", 4};
constexpr Choices kPipelineData{"parallel: {pipeline: 2, data: 2}\nmicro_batch: 1\nsharding: GGG\n",
                                4};
constexpr Choices kGrouped{
    "parallel: {data: 4}\nmicro_batch: 1\nsharding: {states: IIG, group: 2}\n", 4};
constexpr Choices kInterleaved{
    "parallel: {pipeline: 2}\nmicro_batch: 1\nschedule: {kind: interleaved, chunks: 2}\n", 2};
constexpr Choices kContextShards{"parallel: {context: 2}\nmicro_batch: 2\nsharding: NIG\n", 2};

constexpr Choices kExpertChoices{
    "parallel: {data: 4, expert: 2}\nmicro_batch: 1\n"
    "sharding: {states: IIG, group: 2, expert_group: 2}\n",
    4};
constexpr Choices kExpertTensor{
    "parallel: {tensor: 2, data: 2, expert: 2, expert_tensor: 2}\nsequence_parallel: true\n"
    "micro_batch: 1\n",
    4};

std::string plan_of(const char* model, const Choices& choices,
                    const std::string& precision = "fp64") {
  return plan_text_of({.model = model,
                       .precision = precision,
                       .job = "  optimizer: adamw\n  routing: learned\n",
                       .choices = choices.text,
                       .ranks = choices.ranks});
}

std::vector<std::string> to(const Folder& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> options{"--checkpoint", (folder.path() / "c").string()};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// Returns standard output and error of a command, and its exit code.
std::pair<std::string, int> stepwright(const std::string& arguments) {
  const std::string command =
      fmt::format("{} {} 2>&1", std::getenv("STEPWRIGHT_COMMAND"), arguments);
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  const int status = ::pclose(pipe);
  return {text, WEXITSTATUS(status)};
}

TEST(Checkpoint, ContinuesBitByBitUnderTheSamePlan) {
  const std::pair<const char*, Choices> cases[] = {{kTiedModel, kOne},
                                                   {kTiedModel, kGrouped},
                                                   {kTiedModel, kTensorData},
                                                   {kDropping, kTensorData}};
  for (const auto& [model, choices] : cases) {
    const Folder folder;
    const std::string plan = plan_of(model, choices);
    const Trained whole = train({.plan = plan, .steps = 5});
    const Trained begun = train({.plan = plan, .steps = 3, .options = to(folder)});
    ASSERT_EQ(begun.exit_code, 0) << begun.errors;
    const Trained rest = train({.plan = plan, .steps = 5, .options = to(folder, {"--resume"})});
    ASSERT_EQ(rest.exit_code, 0) << rest.errors;
    ASSERT_EQ(rest.losses.size(), 2U);
    EXPECT_EQ(rest.losses[0], whole.losses[3]);
    EXPECT_EQ(rest.losses[1], whole.losses[4]);
    EXPECT_EQ(rest.weights, whole.weights);
  }
}

TEST(Checkpoint, ContinuesExpertsBitByBitUnderTheSamePlan) {
  const Folder folder;
  const std::string plan = plan_of(kExpertModel, kExpertChoices);
  const Trained whole = train({.plan = plan, .steps = 4});
  ASSERT_EQ(train({.plan = plan, .steps = 2, .options = to(folder)}).exit_code, 0);
  const Trained rest = train({.plan = plan, .steps = 4, .options = to(folder, {"--resume"})});
  ASSERT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_EQ(rest.losses.back(), whole.losses.back());
  EXPECT_EQ(rest.weights, whole.weights);
}

/// The moments of these optimizers are in a narrower type than the weights, or fewer for matrices
/// than for other parameters.
TEST(Checkpoint, ContinuesOtherOptimizersBitByBitUnderTheSamePlan) {
  const std::pair<const char*, const char*> cases[] = {{"adam_bf16", "NNN"}, {"muon", "NNN"},
                                                       {"muon", "NGG"},      {"adafactor", "NNG"},
                                                       {"adam8bit", "NNN"},  {"adam8bit", "GGG"}};
  for (const auto& [optimizer, sharding] : cases) {
    const Folder folder;
    const std::string plan = plan_text_of(
        {.model = kTiedModel,
         .precision = "fp32",
         .job = fmt::format("  optimizer: {}\n", optimizer),
         .choices =
             "parallel: {data: 2}\nmicro_batch: 2\nsharding: " + std::string(sharding) + "\n",
         .ranks = 2});
    const Trained whole = train({.plan = plan, .steps = 4});
    const Trained begun = train({.plan = plan, .steps = 2, .options = to(folder)});
    ASSERT_EQ(begun.exit_code, 0) << begun.errors;
    const Trained rest = train({.plan = plan, .steps = 4, .options = to(folder, {"--resume"})});
    ASSERT_EQ(rest.exit_code, 0) << optimizer << rest.errors;
    EXPECT_EQ(rest.losses.back(), whole.losses.back()) << optimizer;
    EXPECT_EQ(rest.weights, whole.weights) << optimizer;
    const auto [said, code] = stepwright("checkpoint verify " + (folder.path() / "c").string());
    EXPECT_EQ(code, 0) << optimizer << said;
  }
}

/// Eight-bit states are in blocks of a rank's shards, so that another plan has other blocks.
TEST(Checkpoint, ContinuesEightBitsUnderAnotherPlanWithinTheirRounding) {
  const auto plan = [](const Choices& choices) {
    return plan_text_of({.model = kSavedModel,
                         .job = "  optimizer: adam8bit\n",
                         .choices = choices.text,
                         .ranks = choices.ranks});
  };
  const Folder folder;
  const Trained whole = train({.plan = plan(kOne), .steps = 6});
  ASSERT_EQ(train({.plan = plan(kTensorData), .steps = 3, .options = to(folder)}).exit_code, 0);
  const Trained rest =
      train({.plan = plan(kPipelineData), .steps = 6, .options = to(folder, {"--resume"})});
  ASSERT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_NEAR(rest.losses.back(), whole.losses.back(), 1e-3 * whole.losses.back());
}

TEST(Checkpoint, ContinuesSumsOfMatricesUnderOtherPlans) {
  const auto plan = [](const Choices& choices) {
    return plan_text_of({.model = kSavedModel,
                         .job = "  optimizer: adafactor\n",
                         .choices = choices.text,
                         .ranks = choices.ranks});
  };
  const Trained whole = train({.plan = plan(kOne), .steps = 4});
  for (const auto& [before, after] :
       {std::pair{kTensorData, kPipelineData}, {kGrouped, kTensorData}, {kPipelineData, kOne}}) {
    const Folder folder;
    const Trained begun = train({.plan = plan(before), .steps = 2, .options = to(folder)});
    ASSERT_EQ(begun.exit_code, 0) << begun.errors;
    const Trained rest =
        train({.plan = plan(after), .steps = 4, .options = to(folder, {"--resume"})});
    ASSERT_EQ(rest.exit_code, 0) << rest.errors;
    EXPECT_LE(distance(whole.weights, rest.weights), 1e-9);
    const auto out = folder.path() / "whole";
    const std::string convert =
        fmt::format("checkpoint convert {} -o {}", (folder.path() / "c").string(), out.string());
    EXPECT_EQ(stepwright(convert).second, 0);
    EXPECT_EQ(read_tensors(out), rest.weights) << "weights alone";
  }
}

struct Pair {
  const char* name;
  const char* model;
  Choices before;
  Choices after;
};
const Pair kPairs[] = {{"OneToTensorData", kSavedModel, kOne, kTensorData},
                       {"TensorDataToPipeline", kTiedModel, kTensorData, kPipelineData},
                       {"PipelineToOne", kTiedModel, kPipelineData, kOne},
                       {"GroupedToInterleaved", kSavedModel, kGrouped, kInterleaved},
                       {"InterleavedToContext", kSavedModel, kInterleaved, kContextShards},
                       {"ContextToGrouped", kTiedModel, kContextShards, kGrouped},
                       {"DropoutToPipeline", kDropping, kTensorData, kPipelineData},
                       {"ExpertsToExpertTensor", kExpertModel, kExpertChoices, kExpertTensor},
                       {"ExpertTensorToOne", kExpertModel, kExpertTensor, kOne}};

std::ostream& operator<<(std::ostream& out, const Pair& pair) { return out << pair.name; }

class OtherPlan : public ::testing::TestWithParam<Pair> {};

TEST_P(OtherPlan, ContinuesWithinRounding) {
  const Pair& pair = GetParam();
  const Folder folder;
  const Trained whole = train({.plan = plan_of(pair.model, kOne), .steps = 4});
  const Trained begun =
      train({.plan = plan_of(pair.model, pair.before), .steps = 2, .options = to(folder)});
  ASSERT_EQ(begun.exit_code, 0) << begun.errors;
  const Trained rest = train(
      {.plan = plan_of(pair.model, pair.after), .steps = 4, .options = to(folder, {"--resume"})});
  ASSERT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_NEAR(rest.losses.back(), whole.losses.back(), 1e-9);
  EXPECT_LE(distance(whole.weights, rest.weights), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, OtherPlan, ::testing::ValuesIn(kPairs),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Checkpoint, IsShownVerifiedAndConverted) {
  const Folder folder;
  const Trained trained = train({.plan = plan_of(kSavedModel, kTensorData),
                                 .steps = 2,
                                 .options = to(folder, {"--checkpoint-every", "1"})});
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  const std::string directory = (folder.path() / "c").string();
  EXPECT_THAT(stepwright("checkpoint show " + directory).first,
              HasSubstr("step-00000002: step 2, 16 sequences read, 4 files"));
  const auto out = folder.path() / "whole";
  EXPECT_EQ(stepwright("checkpoint convert " + directory + " -o " + out.string()).second, 0);
  EXPECT_EQ(read_tensors(out), trained.weights);
  EXPECT_EQ(stepwright("checkpoint verify " + directory).second, 0);
  const auto shard = folder.path() / "c/step-00000002/rank-00003.safetensors";
  std::filesystem::resize_file(shard, std::filesystem::file_size(shard) - 1);
  const auto [text, code] = stepwright("checkpoint verify " + directory);
  EXPECT_EQ(code, 1);
  EXPECT_THAT(text, HasSubstr("rank-00003.safetensors: damaged"));
  const Trained refused = train(
      {.plan = plan_of(kSavedModel, kTensorData), .steps = 3, .options = to(folder, {"--resume"})});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("rank-00003.safetensors: "));
}

TEST(Checkpoint, RefusesWhatIsNotItsOwn) {
  const Folder folder;
  const std::string plan = plan_of(kSavedModel, kOne);
  ASSERT_EQ(train({.plan = plan, .steps = 1, .options = to(folder)}).exit_code, 0);
  const auto refusal = [&](const std::string& text, const std::vector<std::string>& more) {
    const Trained refused = train({.plan = text, .steps = 2, .options = to(folder, more)});
    EXPECT_EQ(refused.exit_code, 2);
    return refused.errors;
  };
  EXPECT_THAT(refusal(plan, {}), HasSubstr("exists already; continue it with --resume"));
  EXPECT_THAT(refusal(plan, {"--resume", "--seed", "5"}), HasSubstr("--seed was 0, now it is 5"));
  EXPECT_THAT(refusal(plan_of(kTiedModel, kOne), {"--resume"}), HasSubstr("of another model"));
  EXPECT_THAT(refusal(plan_of(kSavedModel, kOne, "fp32"), {"--resume"}),
              HasSubstr("its states are F64"));
  const std::string sgd =
      plan_text_of({.model = kSavedModel, .job = "  optimizer: sgd\n", .choices = kOne.text});
  EXPECT_THAT(refusal(sgd, {"--resume"}), HasSubstr("of another optimizer"));
}

/// Returns a text with as many tokens as the tests' text, but other ones.
std::filesystem::path other_text(const Folder& folder) {
  const auto path = folder.path() / "other";
  std::filesystem::copy_file(training_text(), path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100);
  file.put('#');
  return path;
}

/// Changes the index of a run's last checkpoint and corrects its checksum.
void change_index(const Folder& folder,
                  const std::function<void(checkpoint::CheckpointIndex&)>& change) {
  const auto path = checkpoint::find_checkpoint(folder.path() / "c");
  checkpoint::CheckpointIndex index = checkpoint::load_checkpoint_index(path);
  change(index);
  std::ofstream(path / checkpoint::kCheckpointIndexName)
      << checkpoint::checkpoint_index_text(index);
}

TEST(Checkpoint, RefusesOtherDataOfTheSameSize) {
  const Folder folder;
  const std::string plan = plan_of(kSavedModel, kGrouped);
  ASSERT_EQ(train({.plan = plan, .steps = 1, .options = to(folder)}).exit_code, 0);
  const std::string other = other_text(folder).string();
  Running refused(folder, plan,
                  {"--data", other, "--steps", "2", "--checkpoint", (folder.path() / "c").string(),
                   "--resume", "--timeout", "60"});
  EXPECT_EQ(refused.wait(), 2);
  EXPECT_THAT(refused.errors(),
              HasSubstr(fmt::format("step-00000001: --data was {} (4682 tokens, XXH3 ",
                                    training_text().string())));
  EXPECT_THAT(refused.errors(), HasSubstr(fmt::format("now it is {} (4682 tokens, XXH3 ", other)));
}

TEST(Checkpoint, GoesOnFromOneThatDoesNotSayItsData) {
  const Folder folder;
  const std::string plan = plan_of(kSavedModel, kOne);
  ASSERT_EQ(train({.plan = plan, .steps = 1, .options = to(folder)}).exit_code, 0);
  change_index(folder, [](checkpoint::CheckpointIndex& index) {
    index.run.data.clear();
    index.run.data_sum.clear();
  });
  const Trained rest = train({.plan = plan, .steps = 2, .options = to(folder, {"--resume"})});
  EXPECT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_THAT(rest.errors,
              HasSubstr("step-00000001 with step 2; it does not state its training data"));
}

TEST(Checkpoint, RanksWithOtherDataAreRefused) {
  const Folder folder;
  const std::string plan = plan_of(kSavedModel, {"parallel: {data: 2}\nmicro_batch: 1\n", 2});
  const Port port;
  const auto rank = [&](int which, const std::string& data) {
    return std::make_unique<Running>(
        folder, plan, std::vector<std::string>{"--data", data, "--timeout", "60"},
        std::vector<std::string>{fmt::format("RANK={}", which), "WORLD_SIZE=2",
                                 "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port.text()});
  };
  const auto first = rank(0, training_text().string());
  const auto second = rank(1, other_text(folder).string());
  EXPECT_EQ(first->wait(), 2);
  EXPECT_EQ(second->wait(), 2);
  EXPECT_THAT(first->errors(), HasSubstr("rank 1 has another data file than rank 0"));
}

TEST(Checkpoint, WithAPlanThatCannotBeReadIsDamaged) {
  const Folder folder;
  ASSERT_EQ(
      train({.plan = plan_of(kSavedModel, kOne), .steps = 1, .options = to(folder)}).exit_code, 0);
  change_index(folder, [](checkpoint::CheckpointIndex& index) { index.run.plan = "job: {"; });
  const auto [text, code] = stepwright("checkpoint verify " + (folder.path() / "c").string());
  EXPECT_EQ(code, 1);
  EXPECT_THAT(text, HasSubstr("checkpoint.json: plan:"));
}

}  // namespace
}  // namespace stepwright::testing
