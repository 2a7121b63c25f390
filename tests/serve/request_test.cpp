#include "stepwright/serve/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepwright::serve {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kPage = "<!DOCTYPE html>\n";

TEST(HttpAnswer, WaitsForTheWholeHead) {
  EXPECT_FALSE(http_answer("", kPage));
  EXPECT_FALSE(http_answer("GET / HTTP/1.1\r\nHost: here\r\n", kPage));
}

TEST(HttpAnswer, GivesThePage) {
  for (const char* target : {"/", "/?from=link"}) {
    const auto answer = http_answer("GET " + std::string(target) + " HTTP/1.1\r\n\r\n", kPage);
    ASSERT_TRUE(answer);
    EXPECT_THAT(*answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(*answer, HasSubstr("Content-Length: 16\r\n"));
    EXPECT_THAT(*answer, EndsWith("\r\n\r\n<!DOCTYPE html>\n"));
  }
}

TEST(HttpAnswer, AHeadHasNoBody) {
  const auto answer = http_answer("HEAD / HTTP/1.1\r\n\r\n", kPage);
  EXPECT_THAT(*answer, HasSubstr("Content-Length: 16\r\n"));
  EXPECT_THAT(*answer, EndsWith("\r\n\r\n"));
}

TEST(HttpAnswer, RefusesAllElse) {
  const std::pair<std::string, const char*> cases[] = {
      {"GET /etc/passwd HTTP/1.1\r\n\r\n", "HTTP/1.1 404 "},
      {"GET /../ HTTP/1.1\r\n\r\n", "HTTP/1.1 404 "},
      {"POST / HTTP/1.1\r\n\r\n", "HTTP/1.1 405 "},
      {"\r\n\r\n", "HTTP/1.1 400 "},
      {"GET /\r\n\r\n", "HTTP/1.1 400 "},
      {std::string(kLongestHead + 1, 'a'), "HTTP/1.1 400 "}};
  for (const auto& [said, answer] : cases) {
    EXPECT_THAT(http_answer(said, kPage).value_or(""), StartsWith(answer)) << said.substr(0, 40);
  }
}

}  // namespace
}  // namespace stepwright::serve
