#include "stepwright/answers/tune_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/model/catalog.h"
#include "tests/tune/small_jobs.h"

namespace stepwright::answers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TuneRequest quick() { return {.name = "job.yaml", .options = {.threads = 1, .top = 2}}; }

/// Returns a job for Llama-3-70B on eight H100, whose memory is smaller than the optimizer states
/// alone.
plan::Job job_that_fits_nowhere() {
  plan::Job job;
  job.model_name = "llama-3-70b";
  job.model = model::built_in_model(job.model_name).value();
  job.cluster = cluster::built_in_cluster("dgx-h100", 1).value();
  job.sequences = 32;
  job.length = 4096;
  return job;
}

TEST(TuneAnswer, SaysOnlyWhatIsAskedFor) {
  const TuneAnswer answer = answer_tune_command(tune::small_tune_job(), quick());
  EXPECT_EQ(answer.fault, "");
  EXPECT_FALSE(answer.against || answer.sweep || answer.run);
  EXPECT_TRUE(answer.more_memory.empty() && answer.remedies.empty());
  EXPECT_EQ(answer.best.planned.plan, answer.result.plans.front().plan);
  const nlohmann::ordered_json json = tune_answer_json(answer);
  EXPECT_EQ(json["plans"].size(), 2U);
  EXPECT_EQ(json["plans"][0]["step_time_s"], answer.result.plans.front().step_time_s);
  EXPECT_FALSE(json.contains("against") || json.contains("sweep"));
}

TEST(TuneAnswer, TheBestPlanHasNothingToChange) {
  TuneRequest request = quick();
  request.own = answer_tune_command(tune::small_tune_job(), request).best_planned_job();
  const TuneAnswer answer = answer_tune_command(tune::small_tune_job(), request);
  ASSERT_TRUE(answer.against);
  EXPECT_TRUE(answer.against->changes.empty());
  EXPECT_EQ(answer.against->own.step_time_s, answer.result.plans.front().step_time_s);
  EXPECT_TRUE(tune_answer_json(answer).contains("against"));
}

TEST(TuneAnswer, ASweepTunesForEachValueAndTellsWhich) {
  TuneRequest request = quick();
  request.sweep = "batch.sequences=16,32,7.5";
  EXPECT_THROW(answer_tune_command(tune::small_tune_job(), request), Error);
  request.sweep = "batch.sequences=16,32";
  std::vector<std::size_t> values;
  const TuneAnswer answer =
      answer_tune_command(tune::small_tune_job(), request, [&](const TuneAnswerProgress& state) {
        EXPECT_EQ(state.values, state.value == 0 ? 0U : 2U);
        if (values.empty() || values.back() != state.value) values.push_back(state.value);
      });
  EXPECT_THAT(values, ElementsAre(0, 1, 2));
  ASSERT_TRUE(answer.sweep);
  EXPECT_EQ(answer.sweep->points[0].best->step_time_s, answer.result.plans.front().step_time_s);
  EXPECT_GT(answer.sweep->points[1].best->step_time_s, answer.sweep->points[0].best->step_time_s);
}

TEST(TuneAnswer, WhereNothingFitsTheFaultNamesTheFileAndANoteWhatHelps) {
  const TuneAnswer answer = answer_tune_command(job_that_fits_nowhere(), quick());
  EXPECT_THAT(answer.fault, StartsWith("job.yaml: no plan of the search space fits in memory"));
  EXPECT_FALSE(answer.remedies.empty());
  EXPECT_THAT(tune_answer_json(answer)["notes"].front().get<std::string>(),
              StartsWith("It fits with the optimizer on the hosts"));
}

TEST(TuneAnswer, WhereNoPlanIsLegalTheErrorNamesTheFile) {
  plan::Job job = tune::small_tune_job();
  job.space.tensor = {3};
  try {
    answer_tune_command(job, quick());
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.place().file, "job.yaml");
    EXPECT_THAT(error.what(), StartsWith("job.yaml: the search space is empty"));
  }
}

TEST(TuneAnswer, WhatTheProgressThrowsEndsTheSearch) {
  EXPECT_THROW(
      answer_tune_command(tune::small_tune_job(), quick(),
                          [](const TuneAnswerProgress&) { throw std::range_error("enough"); }),
      std::range_error);
}

}  // namespace
}  // namespace stepwright::answers
