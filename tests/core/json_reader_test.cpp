#include "stepwright/core/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/core/json_fault.h"
#include "stepwright/core/utf8.h"
#include "tests/core/refusal.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the value that nlohmann's reader makes of a text; nullopt: it refuses the text.
std::optional<Json> theirs(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// True if a tree equals a JSON value; numbers are compared by spelling.
bool same(const DocumentTree& tree, const Json& json) {
  if (json.is_string())
    return tree.kind == DocumentTree::TreeValueKind::kScalar &&
           tree.text == json.get<std::string>();
  if (json.is_null()) return tree.kind == DocumentTree::TreeValueKind::kNull;
  if (json.is_primitive()) return tree.text == json.dump() || Json::parse(tree.text) == json;
  const std::size_t step = json.is_object() ? 2 : 1;
  if (tree.items.size() != step * json.size()) return false;
  std::size_t at = step - 1;
  for (const auto& [key, value] : json.items()) {
    if (json.is_object() && tree.items[at - 1].text != key) return false;
    if (!same(tree.items[at], value)) return false;
    at += step;
  }
  return true;
}

/// Returns a text with a few characters removed, inserted or changed.
std::string damaged(std::string text, std::mt19937& random) {
  static const std::string kCharacters =
      "{}[],:\"\\ \n0123456789.eE+-truefalsnud8c\t\r\x01\x7f\xC3\xA9";
  const auto below = [&](std::size_t limit) { return random() % std::max<std::size_t>(1, limit); };
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(text.size());
    const char other = kCharacters[below(kCharacters.size())];
    switch (below(3)) {
      case 0: text.erase(at, 1 + below(3)); break;
      case 1: text.insert(at, 1, other); break;
      default: text.replace(at, 1, 1, other);
    }
  }
  return text;
}

TEST(JsonReader, ReadsAndRefusesWhatAnotherReaderDoes) {
  const std::string texts[] = {
      R"({"a": 1, "b": [1.5e3, -0, true, null, "x\u00e9\n"], "c": {"d": {}, "e": []}})",
      R"([[[1, 2], [3]], "a", "\\\"", "\ud83d\ude00", "\ud800", "\udc00"])",
      R"([1e999, 123456789012345678901234567890, 1e-400, -1E+5, 0.25])", "{\n \"k\": \"v\"\n}\n",
      "[]"};
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = damaged(texts[random() % std::size(texts)], random);
    const std::optional<Json> expected = theirs(text);
    const bool utf8 = find_bad_utf8(text) == std::string_view::npos;
    ASSERT_EQ(utf8 && find_json_fault(text).text.empty(), expected.has_value()) << text;
    try {
      const DocumentTree tree = read_json(text, "job.json");
      ASSERT_TRUE(expected && same(tree, *expected)) << text;
      ++read;
    } catch (const Error& error) {
      const std::string_view what = error.what();
      const auto says = [&](std::string_view words) { return what.find(words) != what.npos; };
      EXPECT_TRUE(what.starts_with("job.json:")) << text;
      // Readers differ in keys given twice, and in lines that end with CR.
      if (says("carriage return")) continue;
      ASSERT_EQ(says("given twice"), expected.has_value()) << what << '\n' << text;
    }
  }
  EXPECT_GT(read, 200);
}

TEST(JsonReader, SaysWhatIsWrongAndWhatIsAllowed) {
  const std::pair<const char*, const char*> faults[] = {
      {"{",
       "1:2: malformed JSON: a key in double quotes must stand here; the text ends here, inside "
       "of the mapping that opens in line 1"},
      {"{\n \"a\": 1",
       "2:8: malformed JSON: a comma or } must follow a value of a mapping; the text "
       "ends here, inside of the mapping that opens in line 1"},
      {"{\"a\": 1 \"b\": 2}",
       "1:9: malformed JSON: a comma or } must follow a value of a mapping; "
       "here stands \"b\": 2}"},
      {"[1, 2,]", "1:7: malformed JSON: there is a comma before ]; remove it"},
      {"{\"a\": 1,}", "1:9: malformed JSON: there is a comma before }; remove it"},
      {"{a: 1}", "1:2: malformed JSON: a key in double quotes must stand here; here stands a: 1}"},
      {"{\"a\" 1}", "1:6: malformed JSON: a colon must follow a key; here stands 1}"},
      {"{\"a\": }",
       "1:7: malformed JSON: a value must stand here; here stands }; a value is {...}, "
       "[...], \"text\", a number, true, false or null"},
      {"[True]", "1:2: malformed JSON: True is not a value of JSON; write true"},
      {"[NaN]",
       "1:2: malformed JSON: NaN is not a value of JSON; JSON has only finite numbers; write null "
       "for a missing one"},
      {"[yes]",
       "1:2: malformed JSON: yes is not a value; a value is {...}, [...], \"text\", a number, "
       "true, false or null"},
      {"['a']", "1:2: malformed JSON: JSON text needs double quotes, not single ones"},
      {"[1 // b\n]",
       "1:4: malformed JSON: a comma or ] must follow a value of a list; here stands // "
       "b (JSON has no comments)"},
      {"[01]", "1:2: malformed JSON: 01 is not a number of JSON; write numbers as 8, -0.5 or 4e6"},
      {"[1e999]", "1:2: malformed JSON: 1e999 is too large a number"},
      {"[\"a\nb\"]",
       "1:2: malformed JSON: a quote opens text that no quote closes in this line; "
       "write \\n for a line end"},
      {"[\"a", "1:2: malformed JSON: a quote opens text that no quote closes"},
      {"[\"a\tb\"]", "1:4: malformed JSON: a control character in text; write \\u0009"},
      {"[\"\\q\"]",
       "1:3: malformed JSON: an unknown escape in text; known are \\\" \\\\ \\/ \\b "
       "\\f \\n \\r \\t and \\u with four digits"},
      {"[\"\\u12g4\"]", "1:3: malformed JSON: four digits of hexadecimal must follow \\u"},
      {"[\"\\ud800\"]",
       "1:3: malformed JSON: half of a pair of escapes (\\ud800 to \\udfff), which is not a "
       "character"},
      {"[1] [2]",
       "1:5: malformed JSON: text after the end of the document, which is one value; here "
       "stands [2]"}};
  for (const auto& [text, said] : faults) {
    EXPECT_EQ(refusal([&] { (void)read_json(text, "f"); }), std::string("f:") + said) << text;
  }
  EXPECT_EQ(refusal([] { (void)read_json(std::string(100'000, '['), "f"); }),
            "f:1:101: nested deeper than 100 levels");
}

TEST(JsonReader, KnowsWhereEverythingBegins) {
  const DocumentTree tree = read_json("\xEF\xBB\xBF{\n \"a\": [1,\n  \"x\\\"]\", {}]}", "job.json");
  const auto place = [](const DocumentTree& part) { return std::pair(part.line, part.column); };
  EXPECT_EQ(place(tree), std::pair(1U, 1U));
  EXPECT_EQ(place(tree.items[0]), std::pair(2U, 2U));
  const DocumentTree& list = tree.items[1];
  EXPECT_EQ(place(list), std::pair(2U, 7U));
  EXPECT_EQ(place(list.items[0]), std::pair(2U, 8U));
  EXPECT_EQ(place(list.items[1]), std::pair(3U, 3U));
  EXPECT_EQ(list.items[1].text, "x\"]");
  EXPECT_EQ(place(list.items[2]), std::pair(3U, 11U));
}

}  // namespace
}  // namespace stepwright
