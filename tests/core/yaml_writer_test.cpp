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
  const Document first = Document::parse(text, "first");
  const std::string written = first.to_yaml();
  const Document second = Document::parse(written, "second");
  EXPECT_EQ(first.root().tree(), second.root().tree()) << written;
  EXPECT_EQ(written, second.to_yaml());
}

TEST(YamlWriter, WritesAPlanAsAPersonWould) {
  Tree plan = Tree::mapping();
  plan.set("stepwright", "plan/1");
  plan.set("parallel", Tree::flow_mapping().set("tensor", 4).set("pipeline", 2));
  plan.set("layers", Tree::flow_sequence(std::vector<int>{40, 40}));
  plan.set("sequence_parallel", true);
  plan.set("framework", Tree::mapping().set("name", "megatron-core").set("version", "0.12"));
  plan.set("factor", 0.5);
  plan.set("notes", Tree::sequence().add("first").add(Tree::mapping().set("a", 1).set("b", 2)));
  plan.set("empty", Tree::mapping()).set("nothing", Tree());
  EXPECT_EQ(Document::from(plan, "plan.yaml").to_yaml(),
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
  EXPECT_EQ(Document::parse(text, "x").to_yaml(), text);
}

TEST(YamlWriter, QuotesTextThatReadsAsSomethingElse) {
  Tree list = Tree::flow_sequence();
  for (const char* word : {"5", "true", "null", "", "yes", ".nan", "0x1f", "a: b", "#", "1f1b"}) {
    list.add(word);
  }
  EXPECT_EQ(
      write_yaml(Tree::mapping().set("v", list)),
      "v: [\"5\", \"true\", \"null\", \"\", \"yes\", \".nan\", \"0x1f\", \"a: b\", \"#\", 1f1b]\n");
}

TEST(YamlWriter, WritesNumbersThatReadBackExactly) {
  for (const double number : {0.1, 1.0 / 3, 4e7, -1e-300, 123456789.0}) {
    const Document document = Document::from(Tree::mapping().set("v", number), "x");
    const Document again = Document::parse(document.to_yaml(), "y");
    EXPECT_EQ(again.root().get("v").number(), number);
  }
  EXPECT_EQ(write_yaml(Tree(std::uint64_t{18446744073709551615U})), "18446744073709551615\n");
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
  EXPECT_LT(Document::parse(deep, "x").to_yaml().size(), 500U);
}

TEST(Tree, ReplacesAMemberThatIsThere) {
  Tree tree;
  tree.set("a", 1).set("b", 2).set("a", 3);
  EXPECT_EQ(write_yaml(tree), "a: 3\nb: 2\n");
  EXPECT_EQ(tree.find("c"), nullptr);
}

TEST(Tree, CopiesAPartOfADocument) {
  const Document job = Document::parse("batch: {length: 4096}\nmodel: x\n", "job.yaml");
  const Tree plan = Tree::mapping().set("job", job.root().tree());
  EXPECT_EQ(write_yaml(plan), "job:\n  batch: {length: 4096}\n  model: x\n");
  const Document written = Document::from(plan, "plan.yaml");
  EXPECT_EQ(written.root().get("job").get("model").where(), "plan.yaml: job.model");
}

TEST(Tree, RejectsNumbersThatAreNotFinite) {
  EXPECT_THAT(refusal([] { (void)Tree(std::numeric_limits<double>::infinity()); }),
              HasSubstr("finite"));
}

TEST(Tree, IsRefusedWhenNoFileCouldHoldIt) {
  EXPECT_THAT(refusal([] { (void)Document::from(Tree("\xFF"), "p"); }), HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal([] { (void)Document::from(Tree().set(std::string(300, 'k'), 1), "p"); }),
              HasSubstr("longer than 240 bytes"));
}

}  // namespace
}  // namespace stepwright
