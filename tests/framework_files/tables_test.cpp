#include "stepwright/framework_files/draft/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/recognition/embedded.h"

namespace stepwright::framework_files {
namespace {

using ::testing::HasSubstr;

SettingTable table_of(const std::string& text) {
  return SettingTable(Document::parse(text, "settings.yaml"));
}

std::string refusal_of_table(const std::string& text) {
  try {
    table_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SettingTable, ReadsARowForEachKeyInTheirOrder) {
  const SettingTable table = table_of(
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
  EXPECT_EQ(rows[0].matters, Matters::kNo);
  EXPECT_EQ(rows[0].source, "org/program config.py");
  EXPECT_EQ(rows[2].name, "cut_*");
  EXPECT_EQ(rows[2].matters, Matters::kMaybe);
  EXPECT_EQ(rows[2].leaves_out, "shorter texts");
  EXPECT_EQ(rows[2].usual, "1");
  EXPECT_EQ(rows[3].matters, Matters::kYes);
  EXPECT_EQ(rows[4].matters, Matters::kNo);
  EXPECT_EQ(rows[4].source, "org/other config.py");
}

TEST(SettingTable, RefusesARowWithoutASourceOrAName) {
  EXPECT_THAT(refusal_of_table("- rows: [{key: seed}]\n"), HasSubstr("source"));
  EXPECT_THAT(refusal_of_table("- {source: \"\", rows: [{key: seed}]}\n"), HasSubstr("source"));
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{field: micro_batch}]}\n"),
              HasSubstr("key"));
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{key: a, keys: [b]}]}\n"),
              HasSubstr("one of them is enough"));
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{key: a, fild: b}]}\n"), HasSubstr("fild"));
}

TEST(SettingTable, RefusesSettingsThatMatterAndLeaveNothingOut) {
  EXPECT_THAT(refusal_of_table("- {source: a.py, rows: [{key: a, matters: unknown}]}\n"),
              HasSubstr("leaves_out"));
}

TEST(SettingTable, KeepsItsTextsWhenItIsMoved) {
  SettingTable first = table_of("- {source: a.py, rows: [{key: a_name_that_is_not_short}]}\n");
  const SettingTable second = std::move(first);
  EXPECT_EQ(second.rows().front().name, "a_name_that_is_not_short");
}

TEST(Tables, AreReadAndNameEachSettingOnce) {
  std::size_t all = 0;
  for (const EmbeddedFile& file : embedded_tables()) {
    if (file.text.find("rows:") == std::string_view::npos) continue;
    std::set<std::string_view> names;
    for (const KnownSetting& known : known_settings(file.name)) {
      EXPECT_TRUE(names.insert(known.name).second) << file.name << ": " << known.name;
      EXPECT_EQ(known.matters != Matters::kNo, !known.leaves_out.empty()) << known.name;
      EXPECT_FALSE(known.source.empty()) << file.name << ": " << known.name;
      ++all;
    }
  }
  EXPECT_GT(all, 1000U);
  EXPECT_THROW(known_settings("axolotl/none"), Error);
}

}  // namespace
}  // namespace stepwright::framework_files
