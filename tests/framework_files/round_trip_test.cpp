#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/model/catalog.h"
#include "target_method.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/shown.h"

namespace stepwright::framework_files {
namespace {

/// Returns the plan that is read back from a target's file.
plan::PlannedJob read_again(std::string_view target, const plan::PlannedJob& planned,
                            const std::string& text) {
  UserFacts given;
  given.known_cluster = planned.job.cluster;
  given.known_model = planned.job.model;
  given.batch = fmt::format("{}x{}", planned.job.sequences, planned.job.length);
  const launch_scripts::SourceFile file{std::string(target), text};
  return import_plan_files(target, {&file, 1}, given).planned;
}

/// Expects both to be the same plan of the same job, in everything that files of frameworks
/// express.
void expect_same(const plan::PlannedJob& a, const plan::PlannedJob& b) {
  EXPECT_EQ(a.plan, b.plan);
  EXPECT_EQ(a.plan, b.plan);
  EXPECT_EQ(a.job.sequences, b.job.sequences);
  EXPECT_EQ(a.job.length, b.job.length);
  EXPECT_EQ(a.job.precision, b.job.precision);
}

/// Random legal plans that a target can write; too few of them fail the test.
class RoundTrip : public testing::TestWithParam<std::string_view> {};

TEST_P(RoundTrip, WhatIsReadBackIsWrittenAndReadAlike) {
  plan::Dice dice(18);
  int written_plans = 0;
  int refused = 0;
  // A framework with few abilities refuses nine of ten.
  for (int i = 0; i < 400; ++i) {
    plan::PlannedJob planned;
    planned.job = plan::random_good_job(dice);
    planned.job.method = method_of(GetParam());
    planned.plan = plan::random_legal_plan(dice, planned.job);
    SCOPED_TRACE(plan::shown(planned.plan));
    LaunchFile file;
    try {
      file = export_plan(GetParam(), planned, "", true);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
      ++refused;
      continue;
    }
    ++written_plans;
    const plan::PlannedJob first = read_again(GetParam(), planned, file.text);
    LaunchFile again;
    ASSERT_NO_THROW(again = export_plan(GetParam(), first, "")) << file.text;
    const plan::PlannedJob second = read_again(GetParam(), first, again.text);
    expect_same(first, second);
  }
  EXPECT_GT(written_plans, 15) << refused << " refused";
}

// Files state the built-in model; those that start all ranks also state a part of the nodes.
TEST(RoundTripOfPart, TheClusterAloneIsGiven) {
  for (const std::string_view target : {"fsdp", "accelerate", "deepspeed"}) {
    SCOPED_TRACE(target);
    plan::PlannedJob planned;
    planned.job.model = *model::built_in_model("llama-3-8b");
    planned.job.model_name = "llama-3-8b";
    planned.job.cluster = *cluster::built_in_cluster("gb200-nvl72", 2);
    const bool part = target != "deepspeed";
    if (part) planned.job.cluster.devices_per_node = 64;
    planned.job.sequences = planned.job.cluster.devices();
    planned.job.length = 4096;
    planned.job.precision = DType::kBf16;
    planned.plan.parallel.data = planned.job.cluster.devices();
    planned.plan.sharding = *plan::sharding_named_by_word("zero3");
    const LaunchFile file = export_plan(target, planned, "", true);
    UserFacts given;
    given.cluster = "gb200-nvl72:2";
    const launch_scripts::SourceFile source{std::string(target), file.text};
    const plan::PlannedJob read = import_plan_files(target, {&source, 1}, given).planned;
    EXPECT_EQ(read.job.cluster.devices_per_node, part ? 64 : 72);
    EXPECT_EQ(read.job.model_name, "llama-3-8b");
    EXPECT_EQ(read.plan.sharding, planned.plan.sharding);
  }
}

TEST(GivenDevices, ArePartsOfTheGivenNodes) {
  UserFacts given{.model = "llama-3-8b", .cluster = "gb200-nvl72:2", .devices = 128};
  given.batch = "128x4096";
  const launch_scripts::SourceFile source{"ds.json", R"({"train_micro_batch_size_per_gpu": 1})"};
  const plan::PlannedJob read = import_plan_files("deepspeed", {&source, 1}, given).planned;
  EXPECT_EQ(read.job.cluster.nodes, 2);
  EXPECT_EQ(read.job.cluster.devices_per_node, 64);
  given.devices = 145;
  EXPECT_THROW(import_plan_files("deepspeed", {&source, 1}, given), Error);
}

/// Returns a text with a few bytes changed, dropped or doubled.
std::string damaged(plan::Dice& dice, std::string text) {
  for (std::size_t i = dice.below(4); i < 5 && !text.empty(); ++i) {
    const std::size_t at = dice.below(text.size());
    const std::size_t length = dice.below(std::min<std::size_t>(40, text.size() - at) + 1);
    switch (dice.below(3)) {
      case 0: text[at] = static_cast<char>(dice.below(128)); break;
      case 1: text.erase(at, length); break;
      default: text.insert(at, text.substr(at, length)); break;
    }
  }
  return text;
}

/// Returns the file of a plan with all sharding details that a target can express.
LaunchFile file_of(std::string_view target, plan::PlannedJob planned) {
  planned.plan.sharding = plan::sharding_named_by_word("GGG").value();
  try {
    return export_plan(target, planned, "", true);
  } catch (const Error&) {
    planned.plan.sharding = plan::sharding_named_by_word("NNG").value();
    return export_plan(target, planned, "", true);
  }
}

TEST_P(RoundTrip, DamagedFilesAreReadOrRefused) {
  plan::Dice dice(7);
  plan::PlannedJob planned;
  planned.job = plan::small_job();
  planned.plan.parallel.data = 16;
  planned.plan.accumulate = DType::kBf16;
  planned.job.method = method_of(GetParam());
  const std::string text = file_of(GetParam(), planned).text;
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string bad = damaged(dice, text);
    try {
      read_again(GetParam(), planned, bad);
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()), "") << bad;
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

std::vector<std::string_view> both_ways() {
  std::vector<std::string_view> words;
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read != nullptr && target.write != nullptr) words.push_back(target.word);
  }
  return words;
}

INSTANTIATE_TEST_SUITE_P(Targets, RoundTrip, testing::ValuesIn(both_ways()),
                         [](const auto& tested) {
                           std::string name(tested.param);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace stepwright::framework_files
