#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "golden.h"

namespace stepwright::cli {
namespace {

using nlohmann::json;

constexpr const char* kFlags = "--model llama-3-8b --cluster dgx-h100 --gpus 8 --batch 64x4096";

TEST(Init, WritesTheseJobs) {
  const Workplace place;
  place.write("config.json", content_of("tests/model/configs/llama-2-7b.json"));
  std::string text;
  for (const char* arguments :
       {"init --model llama-3-70b --cluster dgx-h100 --gpus 64 --batch 512x8192",
        "init --model meta-llama/Llama-3.1-8B-Instruct --cluster dgx-h200:2 --batch 64 --length "
        "4096 --framework megatron-core",
        "init --model config.json --cluster dgx-h100 --gpus 4 --batch 64x4096 --json"}) {
    text += transcript(place, arguments);
  }
  expect_golden("init.txt", text);
}

TEST(Init, BadAnswersAreBadInput) {
  const Workplace place;
  place.write("there.yaml", "mine");
  std::string text;
  for (const char* arguments :
       {"init", "init --model llama-3-8b --batch 64x4096",
        "init --model llama-3-80b --cluster dgx-h100 --gpus 8 --batch 64x4096",
        "init --model none/config.json --cluster dgx-h100 --gpus 8 --batch 64x4096",
        "init --model examples --cluster dgx-h100 --gpus 8 --batch 64x4096",
        "init --model openai-community/gpt2-medium --cluster dgx-h100 --gpus 8 --batch 64x1024",
        "init --model llama-3-8b --cluster dgx-h1000 --gpus 8 --batch 64x4096",
        "init --model llama-3-8b --cluster dgx-h100 --gpus 12 --batch 64x4096",
        "init --model llama-3-8b --cluster dgx-h100 --gpus many --batch 64x4096",
        "init --model llama-3-8b --cluster dgx-h100:0 --batch 64x4096",
        "init --model llama-3-8b --cluster dgx-h100:2 --gpus 8 --batch 64x4096",
        "init --model llama-3-8b --cluster dgx-h100 --gpus 8 --batch 64x4096 --length 4096",
        "init --model llama-3-8b --cluster dgx-h100 --gpus 8 --batch 0x4096",
        "init --model llama-3-8b --cluster dgx-h100 --gpus 8 --batch 64x",
        "init --model llama-3-8b --cluster dgx-h100 --gpus 8 --batch 1099511627776x1099511627776",
        "init --model llama-3-8b --cluster dgx-h100 --gpus 8 --batch 64x4096 --framework megatrom",
        "init --model llama-3-8b --cluster dgx-h100 --gpus 8 --batch 64x4096 -o there.yaml",
        "init --model llama-3-8b --cluster dgx-h100 --gpus 8 --batch 64x4096 -o no/job.yaml"}) {
    text += transcript(place, arguments);
  }
  expect_golden("bad_init.txt", text);
  EXPECT_EQ(place.read("there.yaml"), "mine");
}

TEST(Init, TuneReadsWhatItWrites) {
  const Workplace place;
  place.write("config.json", content_of("tests/model/configs/llama-2-7b.json"));
  const Outcome made = place.run(
      "init --model config.json --cluster dgx-h100 --gpus 8 --batch "
      "64x4096 -o job.yaml ");
  ASSERT_EQ(made.code, 0) << made.err;
  const Outcome tuned = place.run("tune job.yaml --top 1 --json");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_EQ(json::parse(tuned.out).at("plans").at(0).at("devices_used"), 8);
}

TEST(Init, PathsAreThoseFromTheFilesFolder) {
  const Workplace place;
  place.write("config.json", content_of("tests/model/configs/llama-2-7b.json"));
  std::filesystem::create_directory(place.path() / "jobs");
  const std::string flags = "--cluster dgx-h100 --gpus 8 --batch 64x4096 -o jobs/job.yaml";
  for (const char* model : {"config.json", "."}) {
    const Outcome made =
        place.run(std::string("init --force --model ") + model + " " + flags + " --json");
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(json::parse(made.out).at("job").at("model").get<std::string>(),
                testing::StartsWith(".."));
    EXPECT_EQ(place.run("tune jobs/job.yaml --top 1 --json").code, 0);
  }
}

TEST(Init, ReplacesAFileOnlyWhenForced) {
  const Workplace place;
  place.write("job.yaml", "mine");
  const std::string arguments = std::string("init ") + kFlags + " -o job.yaml";
  EXPECT_EQ(place.run(arguments).code, 2);
  EXPECT_EQ(place.run(arguments + " --force").code, 0);
  EXPECT_THAT(place.read("job.yaml"), testing::HasSubstr("model: llama-3-8b"));
}

}  // namespace
}  // namespace stepwright::cli
