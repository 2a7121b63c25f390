#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "golden.h"

namespace stepwright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCluster = " --cluster dgx-h100";
constexpr const char* kModel =
    "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --vocab-size 1024 --seq-length 512 "
    "--max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 64 --bf16";

/// Returns one command of a record: Megatron-LM with a tensor degree on some nodes.
std::string command_on(int nodes, int tensor) {
  std::string argv = R"("torchrun", "pretrain_gpt.py")";
  std::string word;
  for (const char c : fmt::format("{} --tensor-model-parallel-size {} ", kModel, tensor)) {
    if (c != ' ') word += c;
    if (c == ' ') argv += fmt::format(R"(, "{}")", std::exchange(word, ""));
  }
  return fmt::format(R"({{"argv": [{}], "nodes": {}, "devices_per_node": 8}})", argv, nodes);
}

std::string record_of(const std::string& commands, const std::string& version = "launch/1") {
  return fmt::format(R"({{"stepwright": "{}", "commands": [{}]}})", version, commands) + "\n";
}

TEST(Capture, RecordsAreImported) {
  Workplace place;
  const std::string one = command_on(1, 2), other = command_on(1, 4);
  place.write("one.json", record_of(one));
  place.write("two.json", record_of(one + ", " + other));
  place.write("extents.json", record_of(one + ", " + command_on(2, 4)));
  std::string text = transcript(place, "import one.json" + std::string(kCluster));
  for (const char* file : {"two.json", "extents.json"}) {
    for (const char* choice : {"", " --command 3"}) {
      text += transcript(place, fmt::format("import {}{}{}", file, choice, kCluster));
    }
    const Outcome second = place.run(fmt::format("import {} --command 2 --json{}", file, kCluster));
    ASSERT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(nlohmann::json::parse(second.out)["plan"]["parallel"]["tensor"], 4);
  }
  expect_golden("capture_records.txt", text);
}

TEST(Capture, BadRecordsAreRefused) {
  Workplace place;
  const std::string away =
      R"({"argv": ["torchrun", "--nproc_per_node", "8", "-m", "torchtitan.train", "--job.config_file", )"
      R"("gone.toml"], "folder": "/nowhere", "files": [{"path": "gone.toml", "exists": true}]})";
  const std::pair<const char*, std::string> records[] = {
      {"empty.json", record_of("")},
      {"version.json", record_of(command_on(1, 2), "launch/2")},
      {"key.json", record_of(R"({"argv": ["torchrun", "t.py"], "node": 1})")},
      {"words.json", record_of(R"({"argv": "torchrun t.py"})")},
      {"gone.json", record_of(away)},
  };
  std::string text;
  for (const auto& [name, record] : records) {
    place.write(name, record);
    text += transcript(place, fmt::format("import {}{}", name, kCluster));
  }
  expect_golden("bad_capture_records.txt", text);
}

TEST(Capture, CheckCapturesAScript) {
  Workplace place;
  place.write("job.sh", fmt::format("#!/bin/bash\nmapfile -t DEGREES < <(printf '%s\\n' "
                                    "--tensor-model-parallel-size 4)\ntouch ran\n"
                                    "torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py {} "
                                    "\"${{DEGREES[@]}}\"\n",
                                    kModel));
  const std::string words = " --only-launchers --json -- bash job.sh";
  const Outcome check = place.run("check --capture" + std::string(kCluster) + words);
  ASSERT_EQ(check.code, 0) << check.err;
  EXPECT_THAT(check.err, HasSubstr("bash job.sh runs on this machine now"));
  const auto plan = nlohmann::json::parse(check.out)["plan"];
  EXPECT_EQ(plan["parallel"]["tensor"], 4);
  EXPECT_EQ(plan["job"]["cluster"]["nodes"], 2);
  EXPECT_FALSE(std::filesystem::exists(place.path() / "ran"));
  const Outcome record = place.run("capture" + words);
  ASSERT_EQ(record.code, 0) << record.err;
  place.write("launch.json", record.out);
  const Outcome again = place.run("check launch.json --json" + std::string(kCluster));
  EXPECT_EQ(nlohmann::json::parse(again.out)["plan"], plan);
}

TEST(Capture, AScriptThatStartsNothingIsSaid) {
  Workplace place;
  place.write("idle.sh", "echo nothing\n");
  const Outcome outcome = place.run("capture -o launch.json -- bash idle.sh");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("ended without starting anything that trains"));
  EXPECT_EQ(nlohmann::json::parse(place.read("launch.json"))["commands"].size(), 0);
  EXPECT_EQ(place.run("capture -- bash nowhere.sh").code, 2);
  EXPECT_EQ(place.run("capture").code, 2);
}

}  // namespace
}  // namespace stepwright::cli
