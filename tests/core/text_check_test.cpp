#include "stepwright/core/text_check.h"

#include <gmock/gmock.h>

#include <string>

#include "stepwright/core/csv.h"
#include "stepwright/core/document.h"
#include "tests/core/refusal.h"

namespace stepwright {
namespace {

using ::testing::StartsWith;

std::string text_refusal(const std::string& text) {
  return refusal([&] { check_file_text(text, "f"); });
}

TEST(TextCheck, LinesEndWithLfOrCrLf) {
  EXPECT_NO_THROW(check_file_text("a\nb\r\nc", "f"));
  const std::string wanted =
      "a carriage return (CR) that no line feed follows: save the file with LF line ends";
  EXPECT_EQ(text_refusal("a: 1\rb: 2\r"), "f:1:5: " + wanted);
  EXPECT_EQ(text_refusal("a\r\nb\r"), "f:2:2: " + wanted);
  EXPECT_EQ(text_refusal("a\r\r\n"), "f:1:2: " + wanted);
}

TEST(TextCheck, LogsMayHaveReturnsAlone) { EXPECT_NO_THROW(check_utf8("10%\r20%\r", "f")); }

TEST(TextCheck, NamesThePlaceOfABadByte) {
  EXPECT_EQ(text_refusal("a\nb\xFF"), "f:2:2: byte 0xff is not UTF-8 text: save the file as UTF-8");
  EXPECT_THAT(text_refusal(std::string("a\n\0", 3)), StartsWith("f:2:1: a NUL byte"));
  EXPECT_THAT(text_refusal("\x1F\x8B"), StartsWith("f: is a gzip file: unpack it first"));
}

TEST(TextCheck, OneByteOrderMarkIsEnough) {
  EXPECT_NO_THROW(
      check_file_text("\xEF\xBB\xBF"
                      "a: 1",
                      "f"));
  EXPECT_THAT(text_refusal("\xEF\xBB\xBF\xEF\xBB\xBF"
                           "a: 1"),
              StartsWith("f: begins with two byte order marks"));
}

TEST(TextCheck, EveryReaderOfDocumentsHasTheRule) {
  for (const std::string text : {"{\"a\":\r1}", "a: 1\rb: 2\r", "a,b\r1,2\r", "\"a\rb\""}) {
    EXPECT_THAT(refusal([&] { (void)parse_csv(text, "f"); }), StartsWith("f:1:"));
    const std::string said = refusal([&] { (void)YamlJsonDocument::parse(text, "f"); });
    EXPECT_THAT(said, ::testing::HasSubstr("carriage return")) << text;
  }
}

}  // namespace
}  // namespace stepwright
