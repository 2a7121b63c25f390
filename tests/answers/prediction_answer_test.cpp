#include "stepwright/answers/prediction_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepwright/answers/given_file.h"
#include "tests/core/refusal.h"

namespace stepwright::answers {
namespace {

using testing::Contains;
using testing::HasSubstr;

plan::PlannedJob tiny() { return read_plan({.name = "examples/tiny-llama.plan.yaml"}); }

TEST(PredictionAnswer, WithoutChangesHasNothingBefore) {
  const PredictionAnswer answer = predict_step_time_and_memory(tiny(), {.name = "plan.yaml"});
  EXPECT_FALSE(answer.before);
  EXPECT_FALSE(prediction_answer_json(answer).contains("baseline"));
}

TEST(PredictionAnswer, DifferencesAreThoseOfBothPredictions) {
  const PredictionAnswer answer = predict_step_time_and_memory(
      tiny(), {.name = "plan.yaml", .changes = {"batch.sequences=2x", "cluster.nic=0.5x"}});
  ASSERT_TRUE(answer.before);
  const nlohmann::ordered_json json = prediction_answer_json(answer);
  EXPECT_EQ(json["baseline"]["step_time_s"], answer.before->step_time_s());
  EXPECT_EQ(json["changed"]["step_time_s"], answer.prediction.step_time_s());
  EXPECT_EQ(json["difference"]["step_time_s"],
            answer.prediction.step_time_s() - answer.before->step_time_s());
}

TEST(PredictionAnswer, SaysByWhichProgramAndConstantsItWasMade) {
  const nlohmann::ordered_json made_by = prediction_answer_json(
      predict_step_time_and_memory(tiny(), {.name = "plan.yaml"}))["made_by"];
  EXPECT_THAT(made_by["version"].get<std::string>(), testing::MatchesRegex("[0-9]+[.0-9]+"));
  const auto constants = made_by["constants"].get<std::string>();
  EXPECT_EQ(constants.size(), 16);
  EXPECT_EQ(constants.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(PredictionAnswer, AChangeThatChangesNothingIsSaid) {
  const std::string same = "batch.length=" + std::to_string(tiny().job.length);
  const PredictionAnswer answer =
      predict_step_time_and_memory(tiny(), {.name = "plan.yaml", .changes = {same}});
  EXPECT_THAT(answer.prediction.notes,
              Contains("The changes by --set change no figure of this prediction."));
}

TEST(PredictionAnswer, AReserveDecidesWhatFits) {
  const PredictionAnswer answer = predict_step_time_and_memory(
      tiny(), {.name = "plan.yaml", .reserve = {.share = kMaxMemoryHeadroomShare}});
  EXPECT_FALSE(answer.prediction.memory.fits());
}

TEST(PredictionAnswer, AnIllegalChangeNamesThePlansFile) {
  EXPECT_THAT(refusal([] {
                predict_step_time_and_memory(
                    tiny(), {.name = "plan.yaml", .changes = {"parallel.tensor=3"}});
              }),
              HasSubstr("plan.yaml: "));
}

}  // namespace
}  // namespace stepwright::answers
