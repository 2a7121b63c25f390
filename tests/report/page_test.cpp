#include "stepwright/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace stepwright::report {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the text between the tags around the content.
std::string content_of(const std::string& page) {
  const std::string open = R"(<script id="content" type="application/json">)";
  const std::size_t from = page.find(open) + open.size();
  return page.substr(from, page.find("</script>", from) - from);
}

TEST(ReportPage, HoldsItsContentUnchanged) {
  const Json content{{"answer", {{"step_time_s", 0.1}, {"notes", {"a < b & c > \"d\" @SCRIPT@"}}}}};
  EXPECT_EQ(Json::parse(content_of(self_contained_report_page(content))), content);
}

TEST(ReportPage, NoContentBecomesMarkup) {
  const Json content{{"title", "</script><script>alert(1)</script><!--"}};
  const std::string page = self_contained_report_page(content);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_EQ(Json::parse(content_of(page)), content);
}

TEST(ReportPage, BytesThatAreNoTextAreReplaced) {
  const Json content{{"title", "\xff"}};
  EXPECT_EQ(Json::parse(content_of(self_contained_report_page(content))).at("title"),
            "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace stepwright::report
