#include "stepwright/mcp/short_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace stepwright::mcp {
namespace {

using Json = nlohmann::ordered_json;

TEST(ShortText, ShortAnswersStayWhole) {
  EXPECT_EQ(json_answer_for_ai_agent(Json::parse(R"({"a": [1, {"b": null}], "c": "d"})")),
            R"({"a":[1,{"b":null}],"c":"d"})");
}

TEST(ShortText, LongListsSayHowManyEntriesTheyHave) {
  const Json answer = {{"time_s", 1.5}, {"rows", std::vector<int>(2000, 12345)}};
  const std::string text = json_answer_for_ai_agent(answer);
  EXPECT_LE(text.size(), 3000U);
  const Json kept = Json::parse(text);
  EXPECT_EQ(kept.at("time_s"), 1.5);
  EXPECT_EQ(kept.at("rows").size(), 11U);
  EXPECT_EQ(kept.at("rows").back(), "... 1990 more");
}

TEST(ShortText, DeepMappingsBecomeTheirCount) {
  Json row;
  for (int i = 0; i < 200; ++i) row["key" + std::to_string(i)] = Json{{"inner", i}};
  const Json kept =
      Json::parse(json_answer_for_ai_agent({{"verdict", "fits"}, {"stages", {row, row}}}));
  EXPECT_EQ(kept.at("verdict"), "fits");
  EXPECT_EQ(kept.at("stages").front(), "... 200 keys");
}

TEST(ShortText, ALongTextIsNotCut) {
  const std::string fault(5000, 'x');
  EXPECT_EQ(Json::parse(json_answer_for_ai_agent({{"fault", fault}})).at("fault"), fault);
}

}  // namespace
}  // namespace stepwright::mcp
