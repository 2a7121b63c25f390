#include "stepwright/explore/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/found/found.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

constexpr const char* kJob =
    "{\"stepwright\": \"job/2\", \"model\": \"llama-3-8b\", \"cluster\": {\"profile\": "
    "\"dgx-h100\", \"nodes\": 1}, \"batch\": {\"sequences\": 64, \"length\": 4096}}";

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Json asked(const std::string& ask, const std::string& text, bool settle = false) {
  return answer_explorer_question(
      {{"ask", ask}, {"text", text}, {"name", "it"}, {"settle", settle}});
}

plan::PlannedJob read_back(const Json& plan) {
  return plan::read_plan(YamlJsonDocument::parse(plan.dump(), "plan"), {});
}

/// Returns where a control's value is in a plan file.
Json::json_pointer pointer_to(const Json& control) {
  std::string path = "/" + control.at("place").get<std::string>();
  std::ranges::replace(path, '.', '/');
  return Json::json_pointer(path);
}

TEST(Explore, SaysOfAPlanWhatPredictSays) {
  const std::string path = "examples/llama-3-70b.plan.yaml";
  const Json answer = asked("predict", text_of(path));
  EXPECT_EQ(answer.at("prediction"),
            simulate::prediction_json(simulate::predict_plan(plan::load_plan(path))));
  const double drawn_s = asked("timeline", text_of(path)).at("timeline").at("step_time_s");
  EXPECT_NEAR(drawn_s, answer.at("prediction").at("step_time_s").get<double>(), 1e-9 * drawn_s);
  EXPECT_EQ(read_back(answer.at("plan")).plan, plan::load_plan(path).plan);
}

TEST(Explore, SaysOfTheWholeRunWhatRunSays) {
  Json plan = asked("predict", kJob).at("plan");
  plan["job"]["run"] = {{"tokens", 2e12}, {"restart", "10min"}};
  const Json answer = asked("predict", plan.dump());
  const plan::PlannedJob planned = read_back(plan);
  const whole_run::TrainingRunPrediction run =
      whole_run::predict_training_run(simulate::predict_plan(planned), planned.job.run);
  EXPECT_EQ(answer.at("whole_run").at("tokens"), 2e12);
  EXPECT_EQ(answer.at("whole_run").at("days"), whole_run::run_summary_json(run).at("days"));
  EXPECT_EQ(asked("predict", kJob).at("whole_run").at("tokens"), 1e12);
}

TEST(Explore, AnOrderIsFoundOnce) {
  Json plan = asked("predict", kJob).at("plan");
  plan["parallel"] = {{"tensor", 1}, {"pipeline", 4}, {"data", 2}};
  plan["sequence_parallel"] = false;
  plan["schedule"] = "auto";
  const Json answer = asked("predict", plan.dump(), true);
  ASSERT_FALSE(answer.contains("refused")) << answer.at("refused");
  EXPECT_FALSE(schedule::is_schedule_order_decided(read_back(answer.at("plan")).plan.schedule));
  const Json settled = answer.at("settled");
  EXPECT_TRUE(schedule::is_schedule_order_decided(read_back(settled).plan.schedule));
  const Json again = asked("predict", settled.dump());
  EXPECT_FALSE(again.contains("settled"));
  EXPECT_EQ(again.at("prediction").at("step_time_s"), answer.at("prediction").at("step_time_s"));
}

TEST(Explore, AnOrderIsFoundInThePlacementThatIsAskedFor) {
  Json plan = asked("predict", kJob).at("plan");
  plan["parallel"] = {{"tensor", 1}, {"pipeline", 4}, {"data", 2}};
  plan["sequence_parallel"] = false;
  for (const std::string placement : {"v", "cyclic"}) {
    plan["schedule"] = {{"kind", "auto"}, {"chunks", 2}, {"placement", placement}};
    const Json answer = asked("predict", plan.dump(), true);
    ASSERT_FALSE(answer.contains("refused")) << answer.at("refused");
    EXPECT_EQ(answer.at("plan").at("schedule").at("placement"), placement);
    EXPECT_FALSE(answer.at("plan").at("schedule").contains("durations_ns"));
    const Json schedule = answer.at("settled").at("schedule");
    EXPECT_EQ(schedule.at("placement"), placement);
    EXPECT_TRUE(schedule.contains("durations_ns"));
  }
}

TEST(Explore, AJobBeginsWithALegalPlan) {
  const Json answer = asked("predict", kJob);
  EXPECT_FALSE(answer.contains("refused"));
  EXPECT_TRUE(answer.at("prediction").at("fits").get<bool>());
  EXPECT_EQ(answer.at("sizes").at("devices"), 8);
}

TEST(Explore, AJobThatNothingFitsBeginsAllTheSame) {
  std::string text = kJob;
  text.replace(text.find("llama-3-8b"), 10, "llama-3.1-405b");
  const Json answer = asked("predict", text);
  EXPECT_FALSE(answer.at("prediction").at("fits").get<bool>());
}

TEST(Explore, ARefusedPlanComesWithLegalOnesNearIt) {
  Json plan = asked("predict", kJob).at("plan");
  plan["parallel"] = {{"tensor", 3}, {"data", 8}};
  const Json answer = asked("predict", plan.dump());
  EXPECT_THAT(answer.at("refused").get<std::string>(), HasSubstr("nearest legal"));
  EXPECT_FALSE(answer.contains("prediction"));
  ASSERT_FALSE(answer.at("nearest").empty());
  for (const Json& near : answer.at("nearest")) {
    const plan::PlannedJob planned = read_back(near.at("plan"));
    EXPECT_FALSE(plan::first_broken_rule(planned.job, planned.plan));
    EXPECT_THAT(answer.at("refused").get<std::string>(), HasSubstr(near.at("changes")));
  }
}

TEST(Explore, WhatDependsOnAMovedDegreeFollows) {
  const Json first = asked("predict", kJob);
  Json plan = first.at("plan");
  for (const Json& size : first.at("sizes").at("parallel.tensor")) {
    plan["parallel"]["tensor"] = size;
    plan["parallel"]["pipeline"] = 1;
    plan["sequence_parallel"] = size > 1;
    const Json answer = asked("predict", plan.dump(), true);
    EXPECT_FALSE(answer.contains("refused")) << answer.at("refused");
    EXPECT_EQ(answer.at("plan").at("parallel").at("data"), 8 / size.get<std::int64_t>());
  }
}

TEST(Explore, FindsWhatTuneFinds) {
  const Json job = Json::parse(std::string(kJob).insert(1, "\"search\": {\"tensor\": 2}, "));
  int told = 0;
  const Json answer =
      answer_explorer_question({{"ask", "tune"}, {"text", job.dump()}, {"name", "it"}},
                               [&](const tune::TuneProgress&) { ++told; });
  const tune::TuneResult result =
      tune::tune(plan::read_job(YamlJsonDocument::parse(job.dump(), "job"), {}), {.threads = 1});
  EXPECT_EQ(answer.at("plans").at(0).at("step_time_s"), result.plans.front().step_time_s);
  EXPECT_EQ(read_back(answer.at("plans").at(0).at("plan")).plan, result.plans.front().plan);
  EXPECT_GT(told, 0);
}

TEST(Explore, EveryChoiceCanBeTaken) {
  const Json choices = answer_explorer_question({{"ask", "choices"}});
  Json job = Json::parse(kJob);
  for (const Json& cluster : choices.at("clusters")) {
    job["cluster"]["profile"] = cluster;
    EXPECT_NO_THROW(plan::read_job(YamlJsonDocument::parse(job.dump(), "job"), {})) << cluster;
  }
  for (const Json& model : choices.at("models")) {
    job["model"] = model;
    EXPECT_NO_THROW(plan::read_job(YamlJsonDocument::parse(job.dump(), "job"), {})) << model;
  }
  const Json plan = asked("predict", kJob).at("plan");
  for (const Json& control : choices.at("controls")) {
    if (control.at("kind") != "words") continue;
    for (const Json& word : control.at("words")) {
      if (word.at("name") == "") continue;
      Json with = plan;
      for (const Json& kind : control.value("schedules", Json::array())) {
        with["schedule"] = {{"kind", kind}, {"chunks", 2}};
      }
      with[pointer_to(control)] = word.at("name");
      EXPECT_NO_THROW(read_back(with)) << control.at("place") << word;
    }
  }
}

TEST(Explore, EveryChoiceOfAPlanHasAControl) {
  const Json answer = asked("predict", text_of("examples/mixtral-8x7b.yaml") + "optimizer: muon\n");
  const Json& plan = answer.at("plan");
  std::set<std::string> places;
  const Json choices = answer_explorer_question({{"ask", "choices"}});
  for (const Json& control : choices.at("controls")) {
    const std::string place = control.at("place");
    EXPECT_TRUE(places.insert(place).second) << place;
    const bool has_sizes = control.at("kind") == "size" || place == "job.precision";
    EXPECT_EQ(has_sizes, answer.at("sizes").contains(place)) << place;
    const bool may_be_left_out = place == "job.framework" || place == "job.kernels.casts" ||
                                 place.starts_with("job.run.") || control.contains("unsaid");
    EXPECT_TRUE(may_be_left_out || plan.contains(pointer_to(control))) << place;
  }
  plan::each_choice([&](const auto& choice) {
    EXPECT_TRUE(places.contains(std::string(choice.place))) << choice.place;
  });
  for (const auto& [flag, name] : plan::kKernelFlagNames) {
    EXPECT_TRUE(places.contains("job.kernels." + std::string(name))) << name;
  }
}

TEST(Explore, BadTextFailsWithItsPlace) {
  EXPECT_THROW(
      {
        try {
          asked("predict", "stepwright: plan/2\njob: {model: none}\n");
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), HasSubstr("it:2"));
          throw;
        }
      },
      Error);
  EXPECT_THROW(answer_explorer_question({{"ask", "anything"}}), Error);
}

}  // namespace
}  // namespace stepwright::explore
