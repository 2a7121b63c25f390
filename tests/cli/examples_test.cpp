#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "command.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the files of examples/ whose names end in `ending` and that have this format.
std::vector<std::string> examples(const std::string& ending, const std::string& format = "") {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("examples")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string();
    const bool of_format =
        content_of(entry.path()).find("stepwright: " + format) != std::string::npos;
    if (name.ends_with(ending) && of_format) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

TEST(Examples, SayWhatTheyShow) {
  for (const std::string& name : examples("")) {
    EXPECT_TRUE(content_of("examples/" + name).starts_with("# ")) << name;
  }
}

TEST(Examples, JobsGiveAPlanThatFits) {
  for (const std::string& name : examples(".yaml", "job/")) {
    if (name.ends_with(".plan.yaml")) continue;
    const Workplace place;
    const Outcome outcome = place.run("tune examples/" + name + " --json --top 1 -o plan.yaml");
    ASSERT_EQ(outcome.code, 0) << name << ": " << outcome.err;
    const Json answer = Json::parse(outcome.out);
    EXPECT_TRUE(answer.at("plans").at(0).at("fits")) << name;
    const Outcome predicted = place.run("predict plan.yaml --json");
    ASSERT_EQ(predicted.code, 0) << name << ": " << predicted.err;
    EXPECT_EQ(Json::parse(predicted.out).at("step_time_s"),
              answer.at("plans").at(0).at("step_time_s"))
        << name;
  }
}

TEST(Examples, ScriptOfMegatronBecomesABetterOne) {
  const Workplace place;
  std::string job = content_of("examples/llama-3-70b.yaml");
  place.write("job.yaml", job + "framework: megatron-core\n");
  const auto run = [&](const std::string& arguments) {
    const Outcome outcome = place.run(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << ": " << outcome.err;
    return outcome.out;
  };
  run("import --from megatron examples/llama-3-70b.megatron.sh --cluster dgx-h100 -o mine.yaml");
  const Json answer =
      Json::parse(run("tune job.yaml --against mine.yaml -o best.yaml --top 1 --json"));
  EXPECT_GT(answer.at("against").at("changes").size(), 1);
  run("export --to megatron --plan best.yaml -o better.sh");
  run("import --from megatron better.sh --cluster dgx-h100 -o again.yaml");
  const auto step_time = [&](const char* plan) {
    return Json::parse(run(std::string("predict --json ") + plan)).at("step_time_s").get<double>();
  };
  EXPECT_LT(step_time("again.yaml"), 0.7 * step_time("mine.yaml"));
}

TEST(Examples, PlansAreAnsweredByEveryCommand) {
  const Workplace place;
  ASSERT_FALSE(examples(".plan.yaml").empty());
  for (const std::string& name : examples(".plan.yaml")) {
    for (const char* command : {"predict ", "traffic ", "memory "}) {
      const Outcome outcome = place.run(command + ("examples/" + name));
      EXPECT_EQ(outcome.code, 0) << command << name << ": " << outcome.err;
    }
    EXPECT_TRUE(Json::parse(place.run("predict --json examples/" + name).out).at("fits")) << name;
  }
}

TEST(Examples, LabsAreClustersForJobs) {
  const Workplace place;
  ASSERT_FALSE(examples(".yaml", "lab/").empty());
  for (const std::string& name : examples(".yaml", "lab/")) {
    const Outcome profile = place.run("lab profile examples/" + name + " -o lab.json");
    ASSERT_EQ(profile.code, 0) << profile.err;
    place.write("job.yaml",
                "stepwright: job/1\nmodel: gpt2\ncluster: {profile: ./lab.json}\n"
                "batch: {sequences: 16, length: 256}\n");
    const Outcome tuned = place.run("tune job.yaml --json --top 1 -o plan.yaml");
    ASSERT_EQ(tuned.code, 0) << name << ": " << tuned.err;
    EXPECT_EQ(place.run("predict plan.yaml").code, 0) << name;
  }
}

}  // namespace
}  // namespace stepwright::cli
