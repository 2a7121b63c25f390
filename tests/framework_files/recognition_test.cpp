#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/recognition/marks.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/target.h"

namespace stepwright::framework_files {
namespace {

std::vector<launch_scripts::ShellWord> command(std::initializer_list<const char*> words) {
  std::vector<launch_scripts::ShellWord> made;
  for (const char* word : words) made.push_back({.text = word});
  return made;
}

FileRecognitionRule file_mark(const std::string& yaml) {
  const YamlJsonDocument document = YamlJsonDocument::parse(yaml, "mark");
  return read_file_recognition_rule(document.root());
}

TEST(Patterns, StarsStandForAnyCharacters) {
  EXPECT_TRUE(matches_wildcard_pattern("train.py", "train.py"));
  EXPECT_FALSE(matches_wildcard_pattern("train.py", "a/train.py"));
  EXPECT_TRUE(matches_wildcard_pattern("*train.py", "a/train.py"));
  EXPECT_TRUE(matches_wildcard_pattern("*a*train*", "maxtext.a.train"));
  EXPECT_FALSE(matches_wildcard_pattern("*train*a", "trail.a"));
  EXPECT_TRUE(matches_wildcard_pattern("ab*ba", "abba"));
  EXPECT_FALSE(matches_wildcard_pattern("ab*ba", "aba"));
  EXPECT_TRUE(matches_wildcard_pattern("*", ""));
}

TEST(FileMarks, HoldOneTextOfEachListAndLackOthers) {
  const FileRecognitionRule mark = file_mark("holds: [model, [size, width]]\nlacks: overrides");
  EXPECT_TRUE(has_mark({"a.yaml", "model: {width: 1}"}, mark));
  EXPECT_FALSE(has_mark({"a.yaml", "model: {}"}, mark));
  EXPECT_FALSE(has_mark({"a.yaml", "model: {width: 1, overrides: {}}"}, mark));
}

TEST(FileMarks, TellScriptsFromFilesAndSeeHowAFileBegins) {
  const FileRecognitionRule scripts = file_mark("in: scripts\nholds: train");
  EXPECT_TRUE(has_mark({"a.sh", "train"}, scripts));
  EXPECT_FALSE(has_mark({"a.yaml", "train"}, scripts));
  const FileRecognitionRule json = file_mark(R"({"begins": "{", "holds": "stage"})");
  EXPECT_TRUE(has_mark({"a", "\n {\"stage\": 1}"}, json));
  EXPECT_FALSE(has_mark({"a", "stage: {}"}, json));
  const FileRecognitionRule line = file_mark(R"({"holds": "\nmodel:"})");
  EXPECT_TRUE(has_mark({"a", "model: 1"}, line));
  EXPECT_FALSE(has_mark({"a", "a_model: 1"}, line));
}

TEST(StartMarks, TellCommandsByTheirWords) {
  EXPECT_TRUE(command_matches_target_rules(
      "primus", command({"x/primus-cli", "direct", "train", "pretrain"})));
  EXPECT_FALSE(command_matches_target_rules("primus", command({"primus-cli", "benchmark"})));
  EXPECT_TRUE(
      command_matches_target_rules("verl", command({"python3", "-m", "verl.trainer.main_ppo"})));
  EXPECT_TRUE(
      command_matches_target_rules("verl", command({"main.py", "++actor_rollout_ref.actor.x=1"})));
  EXPECT_TRUE(
      command_matches_target_rules("ms-swift", command({"/bin/megatron", "sft"}), "megatron"));
  EXPECT_FALSE(command_matches_target_rules("ms-swift", command({"swift", "sft"}), "megatron"));
  EXPECT_FALSE(command_matches_target_rules("ms-swift", command({"swift", "infer"})));
  EXPECT_TRUE(
      command_matches_target_rules("megatron", command({"pretrain_gpt.py", "--num-layers=8"})));
  EXPECT_TRUE(command_matches_target_rules("torchtune",
                                           command({"tune", "run", "x", "--config", "a.yaml"})));
  EXPECT_FALSE(command_matches_target_rules("torchtune", command({"tune", "run", "x"})));
}

TEST(Targets, AreThoseOfTheirData) {
  std::set<std::string_view> words;
  for (const LaunchTarget& target : launch_targets()) words.insert(target.word);
  EXPECT_EQ(words.size(), launch_target_description().size());
  EXPECT_THROW(launch_target_description("nobody"), Error);
}

/// A target that is judged by a test names an existing test; one known from source names its
/// repository.
TEST(Targets, SayHowTheyAreKnown) {
  for (const LaunchTargetDescription& target : launch_target_description()) {
    const FrameworkReadingEvidence& evidence = target.evidence;
    EXPECT_EQ(evidence.judged, evidence.repository.empty()) << target.word;
    EXPECT_EQ(evidence.judged, !evidence.package.empty()) << target.word;
    const bool there = !evidence.judged || std::filesystem::exists(evidence.test);
    EXPECT_TRUE(there) << target.word << ": " << evidence.test;
  }
}

TEST(UnreadPrograms, AreNamed) {
  EXPECT_EQ(unreadable_framework_of_program("x/litgpt/train.py"), "LitGPT");
  EXPECT_EQ(unreadable_framework_of_program("train.py"), std::nullopt);
  EXPECT_EQ(unread_file({"a.yaml", "_target_: nemo.collections.x"}), "NeMo 2");
  EXPECT_EQ(unread_file({"a.yaml", "save_interval_unsharded: 5\n"}), "OLMo");
  EXPECT_EQ(unread_file({"a.py", "import torch\nfrom olmo_core.data import X\n"}), "OLMo-core");
  EXPECT_EQ(unread_file({"a.py", "import lightning as L\n"}), "Lightning");
  EXPECT_EQ(unread_file({"a.py", "import lightning_extras\n"}), std::nullopt);
  EXPECT_EQ(unread_file({"a.txt", "import olmo_core\n"}), std::nullopt);
}

}  // namespace
}  // namespace stepwright::framework_files
