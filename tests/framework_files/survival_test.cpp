// Counts how many of 150 random plans are read back from the files of a target, and why the others
// are not. Each plan has exactly one outcome, and each outcome is checked. If the random plans or a
// target change, the numbers of the table change too: the failure message prints the new ones.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/core/named.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/frameworks/law.h"
#include "target_method.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/shown.h"

namespace stepwright::framework_files {
namespace {

constexpr int kPlans = 150;

enum class Fate : std::uint8_t {
  kSurvives,       ///< The written plan is read back unchanged.
  kRunsOtherwise,  ///< A choice that changes no result is not in the files, and a note says so.
  kNothingNear,    ///< The framework runs neither the plan nor one near it.
  kPlanUnsaid,     ///< The files cannot express choices of the plan; another plan is suggested.
  kNearestUnsaid,  ///< The files cannot express the nearest plan either.
  kJobUnsaid,      ///< The files cannot express the model or the job.
  kNotReadBack,    ///< The files cannot express a value, and cannot be read back.
};
constexpr Named<Fate> kFateNames[] = {{Fate::kSurvives, "survive"},
                                      {Fate::kRunsOtherwise, "run otherwise"},
                                      {Fate::kNothingNear, "nothing near"},
                                      {Fate::kPlanUnsaid, "plan unsaid"},
                                      {Fate::kNearestUnsaid, "nearest unsaid"},
                                      {Fate::kJobUnsaid, "job unsaid"},
                                      {Fate::kNotReadBack, "not read back"}};

/// Counts of what happens to a target's plans, and the choices and values that files cannot
/// express.
struct Fates {
  std::string_view target;
  std::array<int, std::size(kFateNames)> counts;  ///< Counts in the order of `kFateNames`.
  std::set<std::string> reasons;
};

std::string text_of(const Fates& fates) {
  return fmt::format("{{\"{}\", {{{}}}, {{\"{}\"}}}}", fates.target, fmt::join(fates.counts, ", "),
                     fmt::join(fates.reasons, "\", \""));
}

const std::vector<Fates>& expected_fates() {
  static const std::vector<Fates> kAll = {
      {"megatron", {101, 0, 0, 35, 0, 14, 0}, {"accumulate", "kv_heads"}},
      {"deepspeed",
       {110, 2, 4, 11, 0, 0, 23},
       {"accumulate", "collectives.data", "communication_data_type"}},
      {"torchtitan", {114, 0, 0, 36, 0, 0, 0}, {"accumulate"}},
      {"fsdp", {48, 0, 95, 0, 0, 0, 7}, {"gradient_bucket", "model"}},
      {"nemo", {101, 0, 0, 35, 0, 14, 0}, {"accumulate", "kv_heads"}},
      {"accelerate",
       {109, 0, 24, 7, 10, 0, 0},
       {"accumulate", "expert_group", "parameter_bucket", "sharding"}},
      {"maxtext", {22, 0, 92, 0, 0, 5, 31}, {"experts", "grad_dtype", "unfused-attention-context"}},
      {"axolotl",
       {110, 0, 24, 6, 10, 0, 0},
       {"accumulate", "expert_group", "parameter_bucket", "sharding"}},
      {"llama-factory", {57, 2, 63, 3, 0, 25, 0}, {"accumulate", "collectives.data", "precision"}},
      {"ms-swift", {84, 0, 0, 66, 0, 0, 0}, {"accumulate"}},
      {"torchtune", {47, 0, 100, 3, 0, 0, 0}, {"accumulate"}},
      {"nemo-rl", {99, 2, 21, 28, 0, 0, 0}, {"accumulate", "collectives.data"}},
      {"trl", {115, 0, 24, 11, 0, 0, 0}, {"accumulate"}},
      {"verl", {59, 0, 62, 29, 0, 0, 0}, {"accumulate"}},
      {"openrlhf",
       {30, 48, 47, 0, 0, 0, 25},
       {"data_types.grad_accum_dtype", "gradient_bucket", "parameter_bucket"}},
  };
  return kAll;
}

/// Returns the part of a message after a mark; nullopt: the mark is absent.
std::optional<std::string> after(const std::string& message, std::string_view mark) {
  const std::size_t at = message.find(mark);
  if (at == std::string::npos) return std::nullopt;
  return message.substr(at + mark.size());
}

/// Returns the names in a list: "sharding" and "accumulate" for "sharding NNN with accumulate
/// fp32".
std::set<std::string> names_in(const std::string& list) {
  static const std::regex kName(R"((?:^|, (?!here )| with |; )([\w.]+))");
  std::set<std::string> names;
  for (std::sregex_iterator one(list.begin(), list.end(), kName), end; one != end; ++one) {
    names.insert((*one)[1]);
  }
  return names;
}

/// Returns the first word of a message: the rule, the key, or its subject.
std::string first_word(const std::string& message) {
  static const std::regex kPlace(R"(^the file for [\w-]+(:\d+)*: )");
  const std::string text = std::regex_replace(message, kPlace, "");
  return text.substr(0, text.find_first_of(" :"));
}

plan::PlannedJob read_file(std::string_view target, const plan::PlannedJob& planned,
                           const std::string& text) {
  UserFacts given;
  given.known_cluster = planned.job.cluster;
  given.known_model = planned.job.model;
  given.batch = fmt::format("{}x{}", planned.job.sequences, planned.job.length);
  const launch_scripts::SourceFile file{std::string(target), text};
  return import_plan_files(target, {&file, 1}, given).planned;
}

/// Lengthens sequences to whole blocks of FlexAttention's mask, which context ranks divide.
void lengthen(plan::Job& job) {
  constexpr std::int64_t kBlock = 128;
  job.length *= kBlock;
  job.model.positions *= kBlock;
}

/// Writes random plans to the files of one target and reads them back.
class Survival : public testing::TestWithParam<std::string_view> {
 protected:
  void meet(Fate fate) { ++found_.counts[static_cast<std::size_t>(fate)]; }
  void say(const std::set<std::string>& reasons) {
    found_.reasons.insert(reasons.begin(), reasons.end());
  }

  /// Writes one plan to its file and reads it back.
  void follow(plan::PlannedJob planned) {
    const plan::TrainingFramework framework = framework_of_export_target(target(), "");
    const auto runs = plan::nearest_runnable_plan(framework, planned.job, planned.plan);
    if (!framework.name.empty() && !runs) {
      EXPECT_FALSE(
          plan::choices_unsupported_by_framework(framework, planned.job, planned.plan).empty());
      return meet(Fate::kNothingNear);
    }
    if (!framework.name.empty()) planned.plan = *runs;
    try {
      written(planned, export_plan(target(), planned, ""));
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
      refused(planned, error);
    }
  }

  /// Expects a written plan to be read back, except for differences that a note mentions.
  void written(const plan::PlannedJob& planned, const LaunchFile& file) {
    const plan::Plan whole = plan::canonical_plan(planned.plan, planned.job);
    plan::Plan back = read_file(target(), planned, file.text).plan;
    for (const std::string& note : file.notes) {
      const auto otherwise = after(note, "The framework then runs a plan with ");
      if (!otherwise) continue;
      EXPECT_NE(back, whole);
      back.overlap = whole.overlap;
      back.gradient_bucket = whole.gradient_bucket;
      back.parameter_bucket = whole.parameter_bucket;
      back.collectives = whole.collectives;
      EXPECT_EQ(plan::canonical_plan(back, planned.job), whole);
      say(names_in(*otherwise));
      return meet(Fate::kRunsOtherwise);
    }
    EXPECT_EQ(back, whole);
    meet(Fate::kSurvives);
  }

  void refused(const plan::PlannedJob& planned, const Error& error) {
    const std::string message = error.what();
    expect_its_place(error);
    if (const auto other = after(message, "its files cannot express this plan; the nearest has ")) {
      say(names_in(*other));
      expect_the_nearest_survives(planned);
      return meet(Fate::kPlanUnsaid);
    }
    if (const auto other =
            after(message, "its files can express neither this plan nor the nearest, which has ")) {
      say(names_in(*other));
      EXPECT_THROW(export_plan(target(), planned, "", true), Error);
      return meet(Fate::kNearestUnsaid);
    }
    if (const auto lost = after(message, "its files cannot express: ")) {
      say(names_in(*lost));
      EXPECT_THROW(export_plan(target(), planned, "", true), Error);
      return meet(Fate::kJobUnsaid);
    }
    const auto unread = after(message, "its files cannot express this plan: ");
    ASSERT_TRUE(unread) << message;  // Nothing that the framework runs is refused as not run.
    say({first_word(*unread)});
    meet(Fate::kNotReadBack);
  }

  /// Expects an error to have the position that its message names: in the files, or else in the
  /// plan's file.
  static void expect_its_place(const Error& error) {
    static const std::regex kPlace(R"((the file for [\w-]+)(?::(\d+):(\d+))?: )");
    const std::string message = error.what();
    std::smatch said;
    const bool placed = std::regex_search(message, said, kPlace);
    const InputErrorPlace& place = error.place();
    EXPECT_EQ(place.file, placed ? said[1].str() : "plan") << message;
    EXPECT_EQ(place.line, said[2].matched ? std::stoi(said[2]) : 0) << message;
    EXPECT_EQ(place.column, said[3].matched ? std::stoi(said[3]) : 0) << message;
  }

  /// Expects the plan that a refusal suggests to be written and read back.
  void expect_the_nearest_survives(const plan::PlannedJob& planned) {
    const LaunchFile file = export_plan(target(), planned, "", true);
    EXPECT_NE(file.started.plan, plan::canonical_plan(planned.plan, planned.job));
    const plan::PlannedJob again{planned.job, file.started.plan};
    EXPECT_EQ(export_plan(target(), again, "").started.plan, file.started.plan);
  }

  static std::string_view target() { return GetParam(); }

  Fates found_{.target = GetParam(), .counts = {}, .reasons = {}};
};

TEST_P(Survival, EachPlanHasItsFateAndEachFateItsReasons) {
  plan::Dice dice(81);
  for (int i = 0; i < kPlans; ++i) {
    plan::PlannedJob planned;
    planned.job = plan::random_good_job(dice);
    planned.job.method = method_of(target());
    planned.plan = plan::random_legal_plan(dice, planned.job);
    if (target() == "torchtitan") lengthen(planned.job);
    SCOPED_TRACE(plan::shown(planned.plan));
    follow(planned);
  }
  const auto expected = std::ranges::find(expected_fates(), target(), &Fates::target);
  ASSERT_NE(expected, expected_fates().end()) << text_of(found_);
  EXPECT_EQ(found_.counts, expected->counts) << text_of(found_);
  EXPECT_EQ(found_.reasons, expected->reasons) << text_of(found_);
}

TEST(ExportedPlan, ARefusalHasTheFileOfThePlan) {
  plan::PlannedJob planned;
  planned.job = plan::small_job();
  planned.plan.parallel.pipeline = 2;
  planned.plan.parallel.data = 8;
  try {
    export_plan("fsdp", planned, "", false, "own.yaml");
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::StartsWith("own.yaml: parallel pipeline: fsdp supports only"));
    EXPECT_EQ(error.place().file, "own.yaml");
  }
}

std::vector<std::string_view> read_and_written() {
  std::vector<std::string_view> words;
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read != nullptr && target.write != nullptr) words.push_back(target.word);
  }
  return words;
}

INSTANTIATE_TEST_SUITE_P(Targets, Survival, testing::ValuesIn(read_and_written()),
                         [](const auto& tested) {
                           std::string name(tested.param);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace stepwright::framework_files
