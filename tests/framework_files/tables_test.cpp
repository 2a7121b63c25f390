#include "stepwright/framework_files/draft/tables.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "stepwright/cluster/attention_kernel.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/optimizer_words.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/recognition/embedded.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/model/adapters.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

using ::testing::HasSubstr;

KnownSettingTable table_of(const std::string& text) {
  return KnownSettingTable(YamlJsonDocument::parse(text, "settings.yaml"));
}

std::string refusal_of_table(const std::string& text) {
  try {
    table_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(KnownSettingTable, ReadsARowForEachKeyInTheirOrder) {
  const KnownSettingTable table = table_of(
      "- source: org/program config.py\n"
      "  rows:\n"
      "    - {key: size, field: parallel.tensor}\n"
      "    - {keys: [cut, cut_*], matters: unknown, leaves_out: shorter texts, harmless: \"1\"}\n"
      "- source: org/other config.py\n"
      "  rows:\n"
      "    - {key: quantize, leaves_out: weights of 4 bits}\n"
      "    - {key: seed}\n");
  const auto rows = table.rows();
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].name, "size");
  EXPECT_EQ(rows[0].field, "parallel.tensor");
  EXPECT_EQ(rows[0].matters, SettingImpact::kNo);
  EXPECT_EQ(rows[0].source, "org/program config.py");
  EXPECT_EQ(rows[2].name, "cut_*");
  EXPECT_EQ(rows[2].matters, SettingImpact::kMaybe);
  EXPECT_EQ(rows[2].leaves_out, "shorter texts");
  EXPECT_EQ(rows[2].harmless, "1");
  EXPECT_EQ(rows[3].matters, SettingImpact::kYes);
  EXPECT_EQ(rows[4].matters, SettingImpact::kNo);
  EXPECT_EQ(rows[4].source, "org/other config.py");
}

TEST(KnownSettingTable, RefusesARowWithoutASourceOrAName) {
  EXPECT_THAT(refusal_of_table("- rows: [{key: seed}]\n"), HasSubstr("source"));
  EXPECT_THAT(refusal_of_table("- {source: \"\", rows: [{key: seed}]}\n"), HasSubstr("source"));
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{field: micro_batch}]}\n"),
              HasSubstr("key"));
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{key: a, keys: [b]}]}\n"),
              HasSubstr("give only one"));
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{key: a, fild: b}]}\n"), HasSubstr("fild"));
}

TEST(KnownSettingTable, RefusesSettingsThatMatterAndLeaveNothingOut) {
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{key: a, matters: unknown}]}\n"),
              HasSubstr("leaves_out"));
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{key: a, leaves_out: \"\"}]}\n"),
              HasSubstr("leaves_out"));
}

TEST(KnownSettingTable, ReadsSettingsOfWhichNobodyKnowsWhatTheyLeaveOut) {
  const KnownSettingTable table =
      table_of("- {source: a.py, rows: [{key: a*, matters: unknown, leaves_out: \"\"}]}\n");
  EXPECT_EQ(table.rows().front().matters, SettingImpact::kMaybe);
  EXPECT_EQ(table.rows().front().leaves_out, "");
}

TEST(KnownSettingTable, ReadsWordsByFramework) {
  const KnownSettingTable table = table_of(
      "- source: a.py\n"
      "  rows: [{key: a, usual: 1, write: always}, {key: b, usual: {x: 2, others: \"\"}}, {key: "
      "c}]\n");
  EXPECT_EQ(table.rows()[0].usual.text_for_framework("x"), "1");
  EXPECT_TRUE(table.rows()[0].always);
  EXPECT_EQ(table.rows()[1].usual.text_for_framework("x"), "2");
  EXPECT_EQ(table.rows()[1].usual.text_for_framework("y"), "");
  EXPECT_FALSE(table.rows()[2].usual.has_text_for_any_framework());
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{key: a, usual: {x: 2}}]}\n"),
              HasSubstr("others"));
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{key: a, write: never}]}\n"),
              HasSubstr("always"));
}

TEST(KnownSettingTable, KeepsItsTextsWhenItIsMoved) {
  KnownSettingTable first = table_of("- {source: a.py, rows: [{key: a_name_that_is_not_short}]}\n");
  const KnownSettingTable second = std::move(first);
  EXPECT_EQ(second.rows().front().name, "a_name_that_is_not_short");
}

TEST(MegatronFieldPathTable, ReadsAPlaceForEachPath) {
  const MegatronFieldPathTable table(YamlJsonDocument::parse(
      "- source: a.yaml\n"
      "  places: [{paths: [engine.*, optim.lr]}, {path: engine.tp, field: tensor}]\n"
      "- {source: b.yaml, rows: [{key: seed}]}\n",
      "settings.yaml"));
  ASSERT_EQ(table.places().size(), 3U);
  EXPECT_EQ(table.places()[1].path, "optim.lr");
  EXPECT_EQ(table.places()[1].field, "");
  EXPECT_EQ(table.places()[2].field, "tensor");
  EXPECT_EQ(megatron_field_paths("rl/verl_tuning").size(), 13U);
}

TEST(ProgramWordTable, ReadsSectionsOfAllGroupsInTheirOrder) {
  const ProgramWordTable table(
      YamlJsonDocument::parse("- {source: a.py, models: {b: one, a: two}, empty: {}}\n"
                              "- {source: c.py, models: {c: one}}\n",
                              "models.yaml"));
  const auto models = table.words_of_section("models");
  ASSERT_EQ(models.size(), 3U);
  EXPECT_EQ(models[0], WordRow("b", "one"));
  EXPECT_EQ(models[2], WordRow("c", "one"));
  EXPECT_EQ(table.section_names(), (std::vector<std::string_view>{"models", "empty"}));
  EXPECT_TRUE(table.words_of_section("none").empty());
}

TEST(ProgramWordTable, RefusesAGroupWithoutASourceAndAWordThatStandsTwice) {
  EXPECT_THROW(ProgramWordTable(YamlJsonDocument::parse("- {models: {a: b}}\n", "models.yaml")),
               Error);
  const std::string twice = "- {source: a, models: {a: b}}\n- {source: b, models: {a: c}}\n";
  EXPECT_THROW(ProgramWordTable(YamlJsonDocument::parse(twice, "models.yaml")), Error);
}

TEST(ProgramWordTable, NamesBuiltInModels) {
  for (const std::string_view table : {"bridge/models", "maxtext/models", "primus/models"}) {
    EXPECT_FALSE(words_of_table_section(table, "models").empty()) << table;
    for (const auto& [word, model] : words_of_table_section(table, "models")) {
      EXPECT_TRUE(model::built_in_model_of_hub_id("hub/" + model)) << table << ": " << word;
    }
  }
  EXPECT_EQ(meaning_of_program_setting_word("primus/models", "models", "llama3_8b"), "llama-3-8b");
  EXPECT_EQ(meaning_of_program_setting_word("primus/models", "models", "llama9_8b"), "");
}

TEST(ProgramWordTable, NamesModelsOfTheSameSizes) {
  const auto words = words_of_table_section("huggingface/models", "like");
  for (const auto& [head, why] : words_of_table_section("huggingface/models", "but_not")) {
    EXPECT_FALSE(meaning_of_program_setting_word("huggingface/models", "like", head).empty())
        << head;
  }
  EXPECT_EQ(words.size(), 22U);
}

TEST(ProgramWordTable, NamesKernelsOfAttention) {
  for (const auto& [word, kernel] : words_of_table_section("huggingface/attention", "kernels")) {
    const bool named = std::ranges::any_of(cluster::kAttentionKernelNames,
                                           [&](const auto& each) { return each.name == kernel; });
    EXPECT_TRUE(kernel == "default" || kernel == "pytorch" || named) << word;
  }
}

TEST(ProgramWordTable, NamesKeysOfAdapters) {
  const std::set<std::string> known = {
      "rank",        "alpha",         "dropout",       "modules",         "usual_rank",
      "usual_alpha", "alpha_of_rank", "usual_dropout", "usual_modules",   "expression",
      "bits",        "load_flags",    "parameters",    "of_transformers", "switch",
      "flags_of_8",  "flags_of_4"};
  std::size_t programs = 0;
  for (const std::string_view table : embedded_table_names()) {
    if (!table.ends_with("/adapters")) continue;
    for (const std::string_view program : loaded_table<ProgramWordTable>(table).section_names()) {
      EXPECT_FALSE(meaning_of_program_setting_word(table, program, "rank").empty())
          << table << ": " << program;
      for (const auto& [word, key] : words_of_table_section(table, program)) {
        EXPECT_TRUE(known.contains(word)) << table << ": " << word;
      }
      ++programs;
    }
  }
  EXPECT_EQ(programs, 12U);
}

TEST(ProgramWordTable, NamesTargetsOfModules) {
  for (const std::string_view section : {"one_by_one", "others"}) {
    EXPECT_FALSE(words_of_table_section("huggingface/modules", section).empty());
    for (const auto& [module, targets] : words_of_table_section("huggingface/modules", section)) {
      std::istringstream words(targets);
      for (std::string word; words >> word;) {
        EXPECT_TRUE(std::ranges::any_of(model::kAdapterTargetNames,
                                        [&](const auto& each) { return each.name == word; }))
            << module << ": " << word;
      }
    }
  }
}

TEST(KnownSettingTable, TakesValuesThatChangeNothing) {
  const KnownSettingTable table =
      table_of("- {source: a.py, rows: [{key: a, taken: [\"1\", off]}]}\n");
  EXPECT_EQ(table.rows().front().taken, (std::vector<std::string_view>{"1", "off"}));
}

TEST(OptimizerNameTable, FindsTheFirstWordThatFits) {
  EXPECT_EQ(find_optimizer_name("paged_adamw_8bit")->optimizer, plan::Optimizer::kAdam8bit);
  EXPECT_EQ(find_optimizer_name("paged_adamw_32bit")->optimizer, plan::Optimizer::kAdamW);
  EXPECT_EQ(find_optimizer_name("shampoo"), nullptr);
  EXPECT_EQ(find_optimizer_name("onebitadam", "huggingface/deepspeed_optimizers")->optimizer,
            plan::Optimizer::kAdam);
}

TEST(Tables, AreReadAndNameEachSettingOnce) {
  std::size_t all = 0;
  for (const EmbeddedFile& file : embedded_tables()) {
    if (file.text.find("rows:") == std::string_view::npos) continue;
    std::set<std::string_view> names;
    for (const KnownSetting& known : known_program_settings(file.name)) {
      EXPECT_TRUE(names.insert(known.name).second) << file.name << ": " << known.name;
      EXPECT_TRUE(known.matters != SettingImpact::kYes || !known.leaves_out.empty()) << known.name;
      EXPECT_FALSE(known.source.empty()) << file.name << ": " << known.name;
      ++all;
    }
  }
  EXPECT_GT(all, 1000U);
  EXPECT_THROW(known_program_settings("axolotl/none"), Error);
}

/// Returns the table of docs/launch.md, built from the targets' own data.
std::string documented_targets() {
  std::string text = "| target | reads | writes | known |\n|---|---|---|---|\n";
  const auto cell = [](const std::string& words) { return words.empty() ? "-" : words; };
  for (const LaunchTarget& target : launch_targets()) {
    const FrameworkReadingEvidence& evidence = target.data->evidence;
    text += fmt::format("| `{}` | {} | {} | {} |\n", target.word, cell(target.data->reads),
                        cell(target.data->writes),
                        evidence.judged ? "judged: " + evidence.package : "by source");
  }
  return text;
}

TEST(Tables, TheDocumentHasTheTableOfTargets) {
  constexpr std::string_view kPath = "docs/launch.md";
  constexpr std::string_view kBegin = "<!-- targets: written by tables_test -->\n";
  constexpr std::string_view kEnd = "<!-- end of targets -->";
  std::ifstream file{std::string(kPath)};
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  const std::size_t first = begin + kBegin.size();
  if (std::getenv("STEPWRIGHT_UPDATE_GOLDEN") != nullptr) {
    text.replace(first, end - first, documented_targets());
    std::ofstream(std::string(kPath)) << text;
  }
  EXPECT_EQ(text.substr(first, end - first), documented_targets())
      << "STEPWRIGHT_UPDATE_GOLDEN=1 rewrites it";
  for (const LaunchTarget& target : launch_targets()) {
    EXPECT_EQ(target.data->reads.empty(), target.read == nullptr) << target.word;
    EXPECT_EQ(target.data->writes.empty(), target.write == nullptr) << target.word;
  }
}

}  // namespace
}  // namespace stepwright::framework_files
