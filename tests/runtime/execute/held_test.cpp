// Held runs (`train --hold`): the messages that they send, how long they last, and refusals.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/folder.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeldModel = "{layers: 4, hidden: 256, heads: 4, ffn: 512, vocab: 1000}";

class Held : public ::testing::Test {
 protected:
  void SetUp() override {
    write("conditions.yaml",
          "stepwright: training/1\nsource: none\ndevices: []\nframeworks: [{framework: \"\"}]\n");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  /// Returns a plan on a device so slow that computation fills the step, in a job without hosts.
  [[nodiscard]] std::string plan(const char* choices, int ranks) const {
    return fmt::format(
        "stepwright: plan/1\njob:\n  model: {}\n"
        "  cluster: {{name: here, device: {{name: slow, memory: 16e9, memory_bandwidth: 1e9, "
        "peak: {{bf16: 1e10, fp32: 1e10}}}}, devices_per_node: 8, devices: {}, "
        "levels: [{{name: bus, size: 8, bandwidth: 1e9}}]}}\n"
        "  batch: {{sequences: 8, length: 128}}\n  conditions: {}\n{}",
        kHeldModel, ranks, (folder_ / "conditions.yaml").string(), choices);
  }

  /// Runs `stepwright WORDS` in the folder; standard output and error go to the file "out".
  [[nodiscard]] int run(const std::string& words) const {
    const std::string command =
        fmt::format("cd {} && timeout -k 5 600 {} {} >out 2>&1", folder_.path().string(),
                    std::filesystem::absolute(std::getenv("STEPWRIGHT_COMMAND")).string(), words);
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Returns a value of each step from the metrics.
  [[nodiscard]] std::vector<double> each_step(const char* key) const {
    std::vector<double> found;
    std::istringstream lines(read("metrics"));
    for (std::string line; std::getline(lines, line);) {
      found.push_back(nlohmann::json::parse(line)[key]);
    }
    return found;
  }
  [[nodiscard]] std::vector<double> step_times() const { return each_step("time_s"); }

  [[nodiscard]] double predicted_compute_s() const {
    EXPECT_EQ(run("predict plan.yaml --json"), 0) << read("out");
    const auto answer = nlohmann::json::parse(read("out"));
    return double{answer["breakdown"]["compute_s"]} + double{answer["breakdown"]["optimizer_s"]};
  }

  Folder folder_;
};

struct HeldPlan {
  const char* name;
  int ranks;
  const char* choices;
};

class HeldPlans : public Held, public ::testing::WithParamInterface<HeldPlan> {};

TEST_P(HeldPlans, SendWhatIsPredicted) {
  write("plan.yaml", plan(GetParam().choices, GetParam().ranks));
  ASSERT_EQ(run("train plan.yaml --hold --scale 20 --steps 2 --ledger ledger.json"), 0)
      << read("out");
  EXPECT_EQ(nlohmann::json::parse(read("ledger.json"))["scale"], 20);
  EXPECT_EQ(run("compare plan.yaml --log ledger.json"), 0);
  EXPECT_THAT(read("out"), HasSubstr("; the run differs in 0."));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, HeldPlans,
    ::testing::Values(
        HeldPlan{"Strategy", 4,
                 "parallel: {data: 4}\nmicro_batch: 1\nsharding: {states: IIG, group: 2}\n"},
        HeldPlan{"TensorAndPipeline", 4,
                 "parallel: {tensor: 2, pipeline: 2}\nsequence_parallel: true\nmicro_batch: 1\n"},
        HeldPlan{"Interleaved", 2,
                 "parallel: {pipeline: 2}\nmicro_batch: 1\n"
                 "schedule: {kind: interleaved, chunks: 2}\n"},
        HeldPlan{"PipelineNotOverlapped", 2,
                 "parallel: {pipeline: 2}\nmicro_batch: 1\noverlap: {pipeline: false}\n"},
        HeldPlan{"Context", 4, "parallel: {context: 2, data: 2}\nmicro_batch: 2\n"},
        HeldPlan{"Ulysses", 2, "parallel: {context: 2}\ncontext_kind: ulysses\nmicro_batch: 2\n"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Held, OneRankTakesTheTimeOfItsComputations) {
  write("plan.yaml", plan("micro_batch: 2\n", 1));
  const double computed_s = predicted_compute_s();
  for (const int scale : {10, 40}) {
    ASSERT_EQ(
        run(fmt::format("train plan.yaml --hold --scale {} --steps 3 --metrics metrics", scale)), 0)
        << read("out");
    // ComputeClock checks that they take no longer: the machine may have other work.
    for (const double time_s : step_times()) EXPECT_GE(time_s, 0.999 * computed_s / scale);
  }
}

TEST_F(Held, ComputationsWaitForMessagesOfTheirStream) {
  write("plan.yaml", plan("parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\n"
                          "overlap: {tensor_gradients: false}\n",
                          2));
  const double computed_s = predicted_compute_s();
  ASSERT_EQ(run("train plan.yaml --hold --scale 10 --steps 3 --metrics metrics"), 0) << read("out");
  for (const double time_s : step_times()) EXPECT_GE(time_s, 0.999 * computed_s / 10);
}

TEST_F(Held, ModelsWithoutKernelsArePlayed) {
  std::string text = plan("parallel: {data: 2}\nmicro_batch: 1\n", 2);
  text.replace(text.find("vocab: 1000"), 11, "vocab: 1000, position: alibi");
  write("plan.yaml", text);
  EXPECT_EQ(run("train plan.yaml --hold --scale 50"), 0) << read("out");
}

TEST_F(Held, WhatDoesNotGoWithItIsRefused) {
  write("plan.yaml", plan("micro_batch: 2\n", 1));
  const auto refused = [&](const std::string& options, const char* why) {
    EXPECT_EQ(run("train plan.yaml " + options), 2) << options;
    EXPECT_THAT(read("out"), HasSubstr(why)) << options;
  };
  refused("--hold --scale 0.5", "--scale: must be a number from 1 to");
  refused("--hold --scale nan", "--scale");
  refused("--scale 2 --data x", "--scale: is only for --hold");
  refused("--hold --checkpoint c", "--checkpoint: has no effect with --hold");
  refused("--hold --data x", "--data: has no effect with --hold");
  refused("--hold --weights w", "--weights: has no effect with --hold");
  refused("--hold --pace 2", "--pace: has no effect with --hold");
  refused("", "--data: a file to train on is required");
}

class Paced : public Held {
 protected:
  void SetUp() override {
    Held::SetUp();
    std::string text;
    for (int i = 0; i < 5000; ++i) text += static_cast<char>('a' + i * i % 26);
    write("text", text);
    write("plan.yaml", plan("parallel: {data: 2}\nmicro_batch: 2\n", 2));
  }
};

TEST_F(Paced, ComputationsLearnTheSame) {
  const std::string train = "train plan.yaml --data text --steps 3 --metrics metrics";
  ASSERT_EQ(run(train), 0) << read("out");
  const std::vector<double> learned = each_step("loss");
  ASSERT_EQ(run(train + " --pace 8"), 0) << read("out");
  // A paced rank computes on one thread, another one on its share of the cores: sums in another
  // order.
  EXPECT_THAT(each_step("loss"), ::testing::Pointwise(::testing::DoubleNear(1e-4), learned));
}

TEST_F(Paced, WhatIsNoPaceIsRefused) {
  const auto refused = [&](const std::string& words, const char* why) {
    EXPECT_EQ(run(words), 2) << words;
    EXPECT_THAT(read("out"), HasSubstr(why)) << words;
  };
  refused("train plan.yaml --data text --pace 0.5", "--pace: must be a number from 1 to");
  refused("train plan.yaml --data text --pace nan", "--pace: must be a number from 1 to");
  refused("train plan.yaml --data text --pace 2 --device cuda", "--pace: is only for the CPU");
  refused("sample operators -o s.csv --pace 0", "--pace: must be a number from 1 to");
  refused("sample collectives -o s.csv --pace 2", "--pace: is only for operators");
}

TEST_F(Held, AProfileThatIsNotThereIsNamed) {
  std::string text = plan("micro_batch: 2\n", 1);
  text.insert(text.find("  batch:"), "  measured: ./none.json\n");
  write("plan.yaml", text);
  EXPECT_EQ(run("train plan.yaml --hold"), 2);
  EXPECT_THAT(read("out"), HasSubstr("none.json"));
}

}  // namespace
}  // namespace stepwright::testing
