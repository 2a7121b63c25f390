#include "stepwright/core/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

/// What nlohmann's reader makes of a text; nothing when it refuses it.
std::optional<Json> theirs(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// Whether a tree says what a value says; numbers as they are spelled.
bool same(const Tree& tree, const Json& json) {
  if (json.is_string())
    return tree.kind == Tree::Kind::kScalar && tree.text == json.get<std::string>();
  if (json.is_null()) return tree.kind == Tree::Kind::kNull;
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

/// A few characters of a text taken out, put in or changed.
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
    try {
      const Tree tree = read_json(text, "job.json");
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

TEST(JsonReader, KnowsWhereEverythingBegins) {
  const Tree tree = read_json("\xEF\xBB\xBF{\n \"a\": [1,\n  \"x\\\"]\", {}]}", "job.json");
  const auto place = [](const Tree& part) { return std::pair(part.line, part.column); };
  EXPECT_EQ(place(tree), std::pair(1U, 1U));
  EXPECT_EQ(place(tree.items[0]), std::pair(2U, 2U));
  const Tree& list = tree.items[1];
  EXPECT_EQ(place(list), std::pair(2U, 7U));
  EXPECT_EQ(place(list.items[0]), std::pair(2U, 8U));
  EXPECT_EQ(place(list.items[1]), std::pair(3U, 3U));
  EXPECT_EQ(list.items[1].text, "x\"]");
  EXPECT_EQ(place(list.items[2]), std::pair(3U, 11U));
}

}  // namespace
}  // namespace stepwright
