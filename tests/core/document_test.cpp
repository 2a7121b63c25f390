#include "stepwright/core/document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "tests/core/refusal.h"
#include "tests/folder.h"

namespace stepwright {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refused(const std::string& text, const std::string& name = "job.yaml") {
  return refusal([&] { (void)YamlJsonDocument::parse(text, name); });
}

std::string repeated(const std::string& part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

DocumentTree read(const std::string& text) {
  const YamlJsonDocument document = YamlJsonDocument::parse(text, "x");
  return document.root().copy_tree();
}

TEST(YamlJsonDocument, ReadsYaml) {
  const YamlJsonDocument job = YamlJsonDocument::parse(
      "stepwright: job/1\n"
      "batch: {sequences: 512, length: 4096}\n"
      "layers:\n"
      "  - 40\n"
      "  - 41\n",
      "job.yaml");
  EXPECT_EQ(job.root().get("stepwright").text(), "job/1");
  EXPECT_EQ(job.root().get("batch").get("length").integer(), 4096);
  EXPECT_EQ(job.root().get("layers").at(1).integer(), 41);
}

TEST(YamlJsonDocument, ReadsJson) {
  const YamlJsonDocument job = YamlJsonDocument::parse(
      R"( {"batch": {"length": 4096}, "name": "a\u00b5\"", "on": true, "none": null})", "job.json");
  EXPECT_EQ(job.root().get("batch").get("length").integer(), 4096);
  EXPECT_EQ(job.root().get("name").text(), "aµ\"");
  EXPECT_TRUE(job.root().get("on").boolean());
  EXPECT_TRUE(job.root().get("none").is_null());
}

TEST(YamlJsonDocument, KeepsTheOrderOfTheFile) {
  const YamlJsonDocument document = YamlJsonDocument::parse("b: 1\na: 2\n", "x.yaml");
  const auto members = document.root().mapping_members();
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].first, "b");
  EXPECT_EQ(members[1].first, "a");
}

TEST(YamlJsonDocument, ReadsTheTextsOfAList) {
  const YamlJsonDocument document =
      YamlJsonDocument::parse("words: [a, 1, \"b c\"]\nnone: []\none: a\n", "x.yaml");
  const DocumentNode root = document.root();
  EXPECT_EQ(root.get("words").as_text_list(), (std::vector<std::string>{"a", "1", "b c"}));
  EXPECT_TRUE(root.get("none").as_text_list().empty());
  EXPECT_THROW(root.get("one").as_text_list(), Error);
}

TEST(YamlJsonDocument, KnowsWhereYamlValuesAre) {
  const YamlJsonDocument job =
      YamlJsonDocument::parse("batch:\n  length: 4096\n  none:\nl:\n  - {a: 1}\n", "j");
  EXPECT_EQ(job.root().file_position_text(), "j:1:1");
  EXPECT_EQ(job.root().get("batch").get("length").file_position_text(), "j:2:11: batch.length");
  EXPECT_EQ(job.root().get("batch").get("none").file_position_text(), "j:3:3: batch.none");
  EXPECT_EQ(job.root().get("l").at(0).get("a").file_position_text(), "j:5:9: l.0.a");
}

TEST(YamlJsonDocument, KnowsWhereJsonValuesAre) {
  const YamlJsonDocument job = YamlJsonDocument::parse(
      "{\"a]\\\"\": [1, -2e3,\n  {\"b\" : \"x,\"}],\r\n \"c\":false}", "j.json");
  const DocumentNode list = job.root().get("a]\"");
  EXPECT_EQ(list.file_position_text(), "j.json:1:10: a]\"");
  EXPECT_EQ(list.at(1).file_position_text(), "j.json:1:14: a]\".1");
  EXPECT_EQ(list.at(2).get("b").file_position_text(), "j.json:2:10: a]\".2.b");
  EXPECT_EQ(job.root().get("c").file_position_text(), "j.json:3:6: c");
}

TEST(YamlJsonDocument, ReadsTheSameWithAByteOrderMark) {
  const YamlJsonDocument yaml = YamlJsonDocument::parse(
      "\xEF\xBB\xBF"
      "a: 1",
      "x");
  const YamlJsonDocument json = YamlJsonDocument::parse("\xEF\xBB\xBF{\"a\": 1}", "x");
  EXPECT_EQ(yaml.root().copy_tree(), json.root().copy_tree());
  EXPECT_EQ(json.root().get("a").file_position_text(), "x:1:7: a");
}

TEST(YamlJsonDocument, ReadsAnEmptyFileAsNull) {
  for (const std::string text : {"", "\n", "# only a comment"}) {
    EXPECT_TRUE(read(text) == DocumentTree()) << text;
  }
}

TEST(YamlJsonDocument, RejectsMalformedYamlWithItsPosition) {
  EXPECT_EQ(refused("a: [1, 2\nb: 3\n"),
            "job.yaml:2:2: malformed YAML: a list that [ opens is not closed; , or ] is allowed "
            "here; the line is 'b: 3'");
  EXPECT_THAT(refused("a: 1\n b: 2\n"), StartsWith("job.yaml:2:3: malformed YAML: "));
  EXPECT_THAT(refused("a: @x"), StartsWith("job.yaml:1:4: malformed YAML: "));
}

TEST(YamlJsonDocument, RejectsWhatIsLeftOpenAtTheEnd) {
  for (const std::string end : {"", "\n", "\n\n", " # c", "\r\n"}) {
    EXPECT_THAT(refused("a: \"x" + end), HasSubstr("malformed YAML: a quote is opened")) << end;
    EXPECT_THAT(refused("a: '" + end), HasSubstr("malformed YAML: a quote is opened")) << end;
    EXPECT_THAT(refused("a: 1\nb" + end), StartsWith("job.yaml:2:1: malformed YAML: ")) << end;
  }
}

TEST(YamlJsonDocument, ReadsBlockTextAlikeWithAndWithoutTheLastLineBreak) {
  const DocumentTree expected = DocumentTree::make_empty_mapping().set("a", "x\n");
  EXPECT_EQ(read("a: |\n  x"), expected);
  EXPECT_EQ(read("a: |\n  x\n"), expected);
  EXPECT_EQ(read("a: |+\n  x\n\n"), DocumentTree::make_empty_mapping().set("a", "x\n\n"));
  EXPECT_EQ(read("|\n x\n"), DocumentTree("x\n"));
  EXPECT_EQ(read("a: |\n"), DocumentTree::make_empty_mapping().set("a", ""));
}

TEST(YamlJsonDocument, RejectsMalformedJsonWithItsPosition) {
  EXPECT_THAT(refused("{\"a\": 1,\n \"b\": }"), StartsWith("job.yaml:2:7: malformed JSON: "));
  EXPECT_THAT(refused("[1, 2,]"), StartsWith("job.yaml:1:7: malformed JSON: "));
  EXPECT_THAT(refused("[1] x"), StartsWith("job.yaml:1:5: malformed JSON: "));
  EXPECT_THAT(refused("{a: 1}"), StartsWith("job.yaml:1:2: malformed JSON: "));
  EXPECT_THAT(refused("[1, // one\n2]"), StartsWith("job.yaml:1:5: malformed JSON: "));
  EXPECT_THAT(refused(std::string("[1]\0[2]", 7)), StartsWith("job.yaml:1:4: a NUL byte"));
}

TEST(YamlJsonDocument, RejectsNanAndInfinityInJson) {
  EXPECT_THAT(refused("[NaN]"), HasSubstr("malformed JSON"));
  EXPECT_THAT(refused("[-Infinity]"), HasSubstr("malformed JSON"));
  EXPECT_THAT(refused("[1e999]"), HasSubstr("malformed JSON"));
}

TEST(YamlJsonDocument, RejectsAKeyGivenTwice) {
  EXPECT_EQ(refused("a:\n  b: 1\n  c: 2\n  'b': 3\n"),
            "job.yaml:4:3: the key 'b' is given twice, first at line 2");
  EXPECT_EQ(refused("{\"a\": 1,\n\"a\": 2}", "j.json"),
            "j.json:2:1: the key 'a' is given twice, first at line 1");
}

TEST(YamlJsonDocument, RejectsKeysThatAreNotText) {
  EXPECT_THAT(refused("? [a, b]\n: 1\n"), HasSubstr("a key must be text"));
  EXPECT_THAT(refused("? {a: b}\n: 1\n"), HasSubstr("a key must be text"));
  EXPECT_THAT(refused(": 1\n"), HasSubstr("a key is missing"));
  EXPECT_THAT(refused("~: 1\n"), HasSubstr("a key is missing"));
  EXPECT_THAT(refused(std::string(241, 'k') + ": 1\n"), HasSubstr("longer than 240 bytes"));
}

TEST(YamlJsonDocument, WritesAliasesAndMergeKeysOut) {
  EXPECT_EQ(read("a: &x [1, {b: 2}]\nc: *x\n"), read("a: [1, {b: 2}]\nc: [1, {b: 2}]\n"));
  EXPECT_EQ(read("a: &k word\n*k : 1\n"), read("a: word\nword: 1\n"));
  const std::string anchors = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\n";
  const std::string written = "base: {x: 1, y: 2}\nmore: {y: 3, z: 4}\n";
  EXPECT_EQ(read(anchors + "t:\n  <<: *b\n  y: 5\n"), read(written + "t: {y: 5, x: 1}\n"));
  EXPECT_EQ(read(anchors + "t:\n  y: 5\n  <<: [*m, *b]\n"),
            read(written + "t: {y: 5, z: 4, x: 1}\n"));
  EXPECT_EQ(read(anchors + "t: {<<: &n {<<: *b, w: 6}}\nu: *n\n"),
            read(written + "t: {w: 6, x: 1, y: 2}\nu: {w: 6, x: 1, y: 2}\n"));
  EXPECT_EQ(read("'<<': 1\n").items.size(), 2U);
}

TEST(YamlJsonDocument, RejectsAliasesWithoutAnEnd) {
  EXPECT_THAT(refused("a: *x\n"), StartsWith("job.yaml:1:4: malformed YAML"));
  EXPECT_THAT(refused("a: &x [*x]\n"), StartsWith("job.yaml:1:8: an alias inside of its anchor"));
  EXPECT_THAT(refused("<<: 1\n"), StartsWith("job.yaml:1:5: a merge key (<<) takes a mapping"));
  EXPECT_THAT(refused("<<: [{a: 1}, b]\n"), StartsWith("job.yaml:1:14: a merge key (<<) takes"));
  std::string laughs = "a0: &a0 lol\n";
  std::string levels = "b0: &b0 [1]\n";
  for (int i = 1; i < 40; ++i) {
    laughs += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
    levels += fmt::format("b{0}: &b{0} [*b{1}]\n", i, i - 1);
  }
  EXPECT_THAT(refused(laughs), HasSubstr("stand for more than 16 MiB"));
  EXPECT_THAT(refused(levels + "d: " + std::string(70, '[') + "*b39" + std::string(70, ']') + "\n"),
              HasSubstr("nested deeper than 100 levels"));
  std::string anchored = "a: ";
  for (int i = 0; i < 50; ++i) anchored += fmt::format("&x{} [", i);
  for (int i = 0; i < 100'000; ++i) anchored += "1,";
  EXPECT_THAT(refused(anchored + std::string(50, ']') + "\n"), HasSubstr("more than 16 MiB"));
}

TEST(YamlJsonDocument, RejectsTags) {
  EXPECT_THAT(refused("a: !!int \"5\"\n"), StartsWith("job.yaml:1:4: tags"));
  EXPECT_THAT(refused("a: !mine [1]\n"), StartsWith("job.yaml:1:4: tags"));
}

TEST(YamlJsonDocument, RejectsASecondDocument) {
  EXPECT_THAT(refused("a: 1\n---\nb: 2\n"),
              StartsWith("job.yaml:2:1: a second document begins (---)"));
}

TEST(YamlJsonDocument, RejectsTextThatIsNotUtf8) {
  EXPECT_THAT(refused("a: 1\nb: \xFF\n"), StartsWith("job.yaml:2:4: byte 0xff is not UTF-8"));
  EXPECT_THAT(refused("[\"\xFF\"]"), StartsWith("job.yaml:1:3: byte 0xff is not UTF-8"));
}

TEST(YamlJsonDocument, RejectsControlCharactersInYaml) {
  EXPECT_THAT(refused("a: \x04\nb: 1\n"), StartsWith("job.yaml:1:4: the control character 0x04"));
  EXPECT_THAT(refused(std::string("a\0b: 1", 6)), StartsWith("job.yaml:1:2: a NUL byte"));
}

TEST(YamlJsonDocument, RejectsDeepNesting) {
  EXPECT_NO_THROW((void)YamlJsonDocument::parse(repeated("[", 100) + repeated("]", 100), "x"));
  EXPECT_EQ(refused(repeated("[", 101)), "job.yaml:1:101: nested deeper than 100 levels");
  EXPECT_THAT(refused(repeated("[", 1'000'000)), HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(refused("a:\n" + repeated("- ", 500'000)), HasSubstr("nested deeper"));
  EXPECT_THAT(refused("a:\n  b: " + repeated("[", 100'000)), StartsWith("job.yaml:"));
  EXPECT_THAT(refused("a: " + repeated("[", 150) + repeated("]", 150)), HasSubstr("nested deeper"));
  EXPECT_THAT(refused(repeated("? ", 100'000)), StartsWith("job.yaml:"));
}

TEST(YamlJsonDocument, RejectsTextsThatAreTooLarge) {
  EXPECT_EQ(refused("# " + std::string(std::size_t{4} << 20U, 'x')),
            "job.yaml: larger than 4 MiB, too large for YAML");
  EXPECT_EQ(refused(std::string((std::size_t{64} << 20U) + 1, ' ')),
            "job.yaml: larger than 64 MiB");
}

TEST(YamlJsonDocument, LoadsAFile) {
  const Folder folder;
  const std::filesystem::path path = folder.path() / "job.yaml";
  std::ofstream(path) << "a: 7\n";
  const YamlJsonDocument job = YamlJsonDocument::load(path);
  EXPECT_EQ(job.root().get("a").integer(), 7);
  EXPECT_EQ(job.document_name(), path.string());
}

TEST(YamlJsonDocument, RefusesToLoadWhatIsNoFile) {
  const Folder folder;
  const std::string missing = (folder.path() / "missing.yaml").string();
  EXPECT_EQ(refusal([&] { (void)YamlJsonDocument::load(missing); }), missing + ": no such file");
  EXPECT_EQ(refusal([&] { (void)YamlJsonDocument::load(folder.path()); }),
            folder.path().string() + ": is a directory, not a file");
}

TEST(YamlJsonDocument, SaysInItsOwnWordsWhatIsWrongWithYaml) {
  const std::pair<const char*, const char*> texts[] = {
      {"a: @x\n", "1:4: malformed YAML: a value cannot begin with this character"},
      {"a: b: c\n", "1:5: malformed YAML: a colon makes no key here"},
      {"a: {b: 1\nc: 2\n", "2:2: malformed YAML: a mapping that { opens is not closed"},
      {"a: 1\n- b\n", "2:1: malformed YAML: this is not a key of the mapping"},
      {"- a\nb: 1\n", "2:1: text behind the end of the document"},
      {"a: *\n", "1:5: malformed YAML: * makes an alias"},
      {"a: \"\\q\"\n", "1:7: malformed YAML: text in double quotes has an unknown escape"},
      {"a: | b\n", "1:6: malformed YAML: text behind | or > begins on the next line"},
      {"a: ]\n", "1:4: malformed YAML: ] or } closes a list or mapping that nothing opened"}};
  for (const auto& [text, said] : texts) {
    EXPECT_THAT(refused(text), StartsWith(std::string("job.yaml:") + said)) << text;
  }
  EXPECT_THAT(refused("a: @x\n"), ::testing::EndsWith("; the line is 'a: @x'"));
  EXPECT_THAT(refused("'a' b\n"), StartsWith("job.yaml:1:5: text behind the end of the document"));
}

TEST(YamlJsonDocument, KeepsNodesValidWhenMoved) {
  YamlJsonDocument first = YamlJsonDocument::parse("a: 7\n", "x");
  const DocumentNode a = first.root().get("a");
  const YamlJsonDocument second = std::move(first);
  EXPECT_EQ(a.integer(), 7);
}

}  // namespace
}  // namespace stepwright
