#include "stepwright/core/yaml_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"
#include "tests/core/refusal.h"

namespace stepwright {
namespace {

using testing::HasSubstr;

void expect_round_trip(const std::string& text) {
  const YamlJsonDocument first = YamlJsonDocument::parse(text, "first");
  const std::string written = first.to_yaml();
  const YamlJsonDocument second = YamlJsonDocument::parse(written, "second");
  EXPECT_EQ(first.root().copy_tree(), second.root().copy_tree()) << written;
  EXPECT_EQ(written, second.to_yaml());
}

TEST(YamlWriter, WritesAPlanAsAPersonWould) {
  DocumentTree plan = DocumentTree::make_empty_mapping();
  plan.set("stepwright", "plan/1");
  plan.set("parallel", DocumentTree::empty_flow_mapping().set("tensor", 4).set("pipeline", 2));
  plan.set("layers", DocumentTree::empty_flow_sequence(std::vector<int>{40, 40}));
  plan.set("sequence_parallel", true);
  plan.set("framework",
           DocumentTree::make_empty_mapping().set("name", "megatron-core").set("version", "0.12"));
  plan.set("factor", 0.5);
  plan.set("notes", DocumentTree::make_empty_sequence().add("first").add(
                        DocumentTree::make_empty_mapping().set("a", 1).set("b", 2)));
  plan.set("empty", DocumentTree::make_empty_mapping()).set("nothing", DocumentTree());
  EXPECT_EQ(YamlJsonDocument::from_tree(plan, "plan.yaml").to_yaml(),
            "stepwright: plan/1\n"
            "parallel: {tensor: 4, pipeline: 2}\n"
            "layers: [40, 40]\n"
            "sequence_parallel: true\n"
            "framework:\n"
            "  name: megatron-core\n"
            "  version: \"0.12\"\n"
            "factor: 0.5\n"
            "notes:\n"
            "  - first\n"
            "  - a: 1\n"
            "    b: 2\n"
            "empty: {}\n"
            "nothing: null\n");
}

TEST(YamlWriter, KeepsTheLayoutOfAFile) {
  const std::string text = "a: {b: 1, c: [x, z]}\nd:\n  - 1\n  - - 2\n    - 3\n";
  EXPECT_EQ(YamlJsonDocument::parse(text, "x").to_yaml(), text);
}

TEST(YamlWriter, QuotesTextThatReadsAsSomethingElse) {
  DocumentTree list = DocumentTree::empty_flow_sequence();
  for (const char* word : {"5", "true", "null", "", "yes", ".nan", "0x1f", "a: b", "#", "1f1b"}) {
    list.add(word);
  }
  EXPECT_EQ(
      write_yaml(DocumentTree::make_empty_mapping().set("v", list)),
      "v: [\"5\", \"true\", \"null\", \"\", \"yes\", \".nan\", \"0x1f\", \"a: b\", \"#\", 1f1b]\n");
}

TEST(YamlWriter, WritesNumbersThatReadBackExactly) {
  for (const double number : {0.1, 1.0 / 3, 4e7, -1e-300, 123456789.0}) {
    const YamlJsonDocument document =
        YamlJsonDocument::from_tree(DocumentTree::make_empty_mapping().set("v", number), "x");
    const YamlJsonDocument again = YamlJsonDocument::parse(document.to_yaml(), "y");
    EXPECT_EQ(again.root().get("v").number(), number);
  }
  EXPECT_EQ(write_yaml(DocumentTree(std::uint64_t{18446744073709551615U})),
            "18446744073709551615\n");
}

TEST(YamlWriter, ReadsBackAsTheSameTree) {
  expect_round_trip("");
  expect_round_trip("7");
  expect_round_trip("{}");
  expect_round_trip("[]");
  expect_round_trip("[[[]], {\"a\": [1, {\"b\": {}}]}]");
  expect_round_trip("a: |\n  x\n\n   y\nb: >-\n  folded\n  text\nc: 'it''s'\n");
  expect_round_trip(R"(["\u0000\u0004\t\n\r\\\"\u007f\u0085\u2028\ud83d\ude00", " x ", "-", "?"])");
  expect_round_trip(
      R"({"null": 1, "true": 2, "": 3, "a b": 4, "<<": 5, "a:b": 6, "#": 7, "7": 8})");
  expect_round_trip("{\"" + std::string(240, '\x7f') + "\": 1}");
}

TEST(YamlWriter, WritesDeepNestingOnOneLine) {
  const std::string deep = std::string(100, '[') + "7" + std::string(100, ']');
  expect_round_trip(deep);
  EXPECT_LT(YamlJsonDocument::parse(deep, "x").to_yaml().size(), 500U);
}

TEST(DocumentTree, ReplacesAMemberThatIsThere) {
  DocumentTree tree;
  tree.set("a", 1).set("b", 2).set("a", 3);
  EXPECT_EQ(write_yaml(tree), "a: 3\nb: 2\n");
  EXPECT_EQ(tree.find("c"), nullptr);
}

TEST(DocumentTree, CopiesAPartOfADocument) {
  const YamlJsonDocument job =
      YamlJsonDocument::parse("batch: {length: 4096}\nmodel: x\n", "job.yaml");
  const DocumentTree plan = DocumentTree::make_empty_mapping().set("job", job.root().copy_tree());
  EXPECT_EQ(write_yaml(plan), "job:\n  batch: {length: 4096}\n  model: x\n");
  const YamlJsonDocument written = YamlJsonDocument::from_tree(plan, "plan.yaml");
  EXPECT_EQ(written.root().get("job").get("model").file_position_text(), "plan.yaml: job.model");
}

TEST(DocumentTree, RejectsNumbersThatAreNotFinite) {
  EXPECT_THAT(refusal([] { (void)DocumentTree(std::numeric_limits<double>::infinity()); }),
              HasSubstr("finite"));
}

TEST(DocumentTree, IsRefusedWhenNoFileCouldHoldIt) {
  EXPECT_THAT(refusal([] { (void)YamlJsonDocument::from_tree(DocumentTree("\xFF"), "p"); }),
              HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal([] {
                (void)YamlJsonDocument::from_tree(DocumentTree().set(std::string(300, 'k'), 1),
                                                  "p");
              }),
              HasSubstr("longer than 240 bytes"));
}

}  // namespace
}  // namespace stepwright
