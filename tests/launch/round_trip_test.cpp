#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stepwright/core/error.h"
#include "stepwright/launch/launch_file.h"
#include "stepwright/launch/target.h"
#include "stepwright/plan/frameworks.h"
#include "tests/plan/random_plans.h"

namespace stepwright {
namespace {

/// A file in the folder of the tests.
std::filesystem::path written(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path) << text;
  return path;
}

/// What a target's file says once it is read.
PlannedJob read_again(std::string_view target, const PlannedJob& planned, const std::string& text) {
  Given given;
  given.known_cluster = planned.job.cluster;
  given.known_model = planned.job.model;
  given.batch = fmt::format("{}x{}", planned.job.sequences, planned.job.length);
  const std::filesystem::path path = written(fmt::format("launch_{}", target), text);
  return import_plan(target, {&path, 1}, given);
}

/// Whether both are the same plan of the same job, as far as files of frameworks speak of it.
void expect_same(const PlannedJob& a, const PlannedJob& b) {
  EXPECT_EQ(plan_text(a.plan), plan_text(b.plan));
  EXPECT_EQ(a.plan, b.plan);
  EXPECT_EQ(a.job.sequences, b.job.sequences);
  EXPECT_EQ(a.job.length, b.job.length);
  EXPECT_EQ(a.job.precision, b.job.precision);
}

/// Random legal plans for which a target writes files; many, or the test fails.
class RoundTrip : public testing::TestWithParam<std::string_view> {};

TEST_P(RoundTrip, WhatIsReadBackIsWrittenAndReadAlike) {
  Dice dice(18);
  int written_plans = 0;
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    PlannedJob planned;
    planned.job = random_good_job(dice);
    planned.plan = random_legal_plan(dice, planned.job);
    SCOPED_TRACE(plan_text(planned.plan));
    LaunchFile file;
    try {
      file = export_plan(GetParam(), planned, "", true);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
      ++refused;
      continue;
    }
    ++written_plans;
    const PlannedJob first = read_again(GetParam(), planned, file.text);
    LaunchFile again;
    ASSERT_NO_THROW(again = export_plan(GetParam(), first, "")) << file.text;
    const PlannedJob second = read_again(GetParam(), first, again.text);
    expect_same(first, second);
  }
  EXPECT_GT(written_plans, 15) << refused << " refused";
}

TEST_P(RoundTrip, PlansThatNoNoteSpeaksOfComeBackAsTheyAre) {
  Dice dice(81);
  int same = 0;
  for (int i = 0; i < 200; ++i) {
    PlannedJob planned;
    planned.job = random_good_job(dice);
    planned.plan = random_legal_plan(dice, planned.job);
    for (const LaunchTarget& target : launch_targets()) {
      if (target.word != GetParam() || target.framework.empty()) continue;
      const auto runs =
          nearest_run({.name = std::string(target.framework)}, planned.job, planned.plan);
      if (runs) planned.plan = *runs;
    }
    SCOPED_TRACE(plan_text(planned.plan));
    LaunchFile file;
    try {
      file = export_plan(GetParam(), planned, "");
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
      continue;
    }
    const bool changed = std::ranges::any_of(file.notes, [](const std::string& note) {
      return note.starts_with("what runs there has") || note.starts_with("the nearest");
    });
    if (changed) continue;
    ++same;
    const PlannedJob back = read_again(GetParam(), planned, file.text);
    EXPECT_EQ(plan_text(back.plan), plan_text(canonical(planned.plan, planned.job)));
  }
  EXPECT_GT(same, 3);
}

std::vector<std::string_view> both_ways() {
  std::vector<std::string_view> words;
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read != nullptr && target.write != nullptr) words.push_back(target.word);
  }
  return words;
}

INSTANTIATE_TEST_SUITE_P(Targets, RoundTrip, testing::ValuesIn(both_ways()),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace stepwright
