#include "stepwright/serve/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepwright::serve {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const ServedPage kPage("<!DOCTYPE html>\n");

/// Returns the head of the answer to a request; empty: the server waits for more.
std::string head_of(const std::string& said) {
  const auto answer = http_response(said, kPage);
  return answer ? answer->head : "";
}

std::string get(const std::string& target, const std::string& host = "localhost") {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

TEST(HttpResponse, WaitsForTheWholeHead) {
  EXPECT_EQ(head_of(""), "");
  EXPECT_EQ(head_of("GET / HTTP/1.1\r\nHost: localhost\r\n"), "");
}

TEST(HttpResponse, GivesThePage) {
  for (const char* target : {"/", "/?from=link"}) {
    const auto answer = http_response(get(target), kPage);
    ASSERT_TRUE(answer);
    EXPECT_THAT(answer->head, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer->head, HasSubstr("Content-Length: 16\r\n"));
    EXPECT_THAT(answer->head, EndsWith("\r\n\r\n"));
    EXPECT_EQ(answer->body.data(), kPage.text.data());
    EXPECT_EQ(answer->body, kPage.text);
  }
}

std::string get_with(const std::string& field) {
  return "GET / HTTP/1.1\r\nHost: localhost\r\n" + field + "\r\n\r\n";
}

TEST(HttpResponse, IsPackedForBrowsersThatTakeIt) {
  for (const char* field :
       {"Accept-Encoding: gzip, deflate, br", "accept-encoding: br;q=1, GZIP;q=0.5"}) {
    const auto answer = http_response(get_with(field), kPage);
    EXPECT_THAT(answer->head, HasSubstr("Content-Encoding: gzip\r\n")) << field;
    EXPECT_EQ(answer->body, kPage.packed) << field;
    EXPECT_EQ(answer->body.substr(0, 2), "\x1f\x8b") << field;
  }
  for (const char* field :
       {"Accept-Encoding: br", "Accept-Encoding: gzip;q=0", "Accept-Encoding: xgzip"}) {
    EXPECT_EQ(http_response(get_with(field), kPage)->body, kPage.text) << field;
  }
}

TEST(HttpResponse, IsNotSentAgainToABrowserThatHasIt) {
  const auto known = http_response(get_with("If-None-Match: W/\"1\", " + kPage.tag), kPage);
  EXPECT_THAT(known->head, StartsWith("HTTP/1.1 304 "));
  EXPECT_EQ(known->body, "");
  const ServedPage other("<!DOCTYPE html> \n");
  EXPECT_NE(other.tag, kPage.tag);
  EXPECT_THAT(http_response(get_with("If-None-Match: " + other.tag), kPage)->head,
              StartsWith("HTTP/1.1 200 "));
}

TEST(HttpResponse, HasAnIcon) {
  const auto icon = http_response(get("/favicon.ico"), kPage);
  EXPECT_THAT(icon->head, HasSubstr("Content-Type: image/svg+xml"));
  EXPECT_THAT(std::string(icon->body), StartsWith("<svg "));
}

TEST(HttpResponse, AHeadHasNoBody) {
  const auto answer = http_response("HEAD / HTTP/1.0\r\n\r\n", kPage);
  EXPECT_THAT(answer->head, HasSubstr("Content-Length: 16\r\n"));
  EXPECT_EQ(answer->body, "");
}

TEST(HttpResponse, AnswersForThisMachineAlone) {
  for (const char* own : {"localhost", "LocalHost:8017", "127.0.0.1", "127.0.0.1:9000", "[::1]",
                          "[::1]:8017", "localhost:"}) {
    EXPECT_THAT(head_of(get("/", own)), StartsWith("HTTP/1.1 200 ")) << own;
  }
  for (const char* other :
       {"", "attacker.example", "attacker.example:8017", "localhost.example", "127.0.0.1.example",
        "127.0.0.2", "[::2]", "::1", "localhost:x", "user@localhost", "0.0.0.0:8017"}) {
    EXPECT_THAT(head_of(get("/", other)), StartsWith("HTTP/1.1 421 ")) << other;
  }
}

TEST(HttpResponse, RefusesOtherPathsAndMethods) {
  EXPECT_THAT(head_of(get("/etc/passwd")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(head_of(get("/../")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(head_of("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"),
              StartsWith("HTTP/1.1 405 "));
}

TEST(HttpResponse, WhatIsNoRequestIsBad) {
  const std::string host = "Host: localhost\r\n";
  const std::string cases[] = {
      "\r\n\r\n",
      "GET /\r\n\r\n",
      "GET  / HTTP/1.1\r\n" + host + "\r\n",
      "GET / x HTTP/1.1\r\n" + host + "\r\n",
      "GET / HTTP/2.0\r\n" + host + "\r\n",
      "GET / HTTP/1.10\r\n" + host + "\r\n",
      "G(T / HTTP/1.1\r\n" + host + "\r\n",
      "GET /\x01 HTTP/1.1\r\n" + host + "\r\n",
      "GET / HTTP/1.1\r\n\r\n",                            // no host
      "GET / HTTP/1.1\r\n" + host + host + "\r\n",         // two of them
      "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",        // a blank before the colon
      "GET / HTTP/1.1\r\n" + host + " folded: 1\r\n\r\n",  // a header line that is continued
      "GET / HTTP/1.1\r\n" + host + "no field\r\n\r\n",
      "GET / HTTP/1.1\r\n" + host + "a: b\nc: d\r\n\r\n",  // an end of line of its own
      "GET / HTTP/1.1\r\nHost: localhost\n\r\n\r\n",       // one at the end of a value
      "GET / HTTP/1.1\r\nHost: local" + std::string(1, '\0') + "host\r\n\r\n",
      "GET / HTTP/1.1\n" + std::string("Host: localhost\n\n"),
      std::string("\x16\x03\x01\x02", 4),  // the first bytes of a TLS connection
      std::string(kMaxRequestHeadBytes + 1, 'a'),
      get("/", "localhost\r\nx: " + std::string(kMaxRequestHeadBytes, 'a'))};
  for (const std::string& said : cases) {
    EXPECT_THAT(head_of(said), StartsWith("HTTP/1.1 400 ")) << said.substr(0, 60);
  }
}

}  // namespace
}  // namespace stepwright::serve
