#include "stepwright/core/escaped_text_stream.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace stepwright {
namespace {

TEST(EscapedTextStream, EscapesAllButLines) {
  std::ostringstream shown;
  EscapedTextStream(shown) << "a\n\tb" << '\x1b' << "[2J" << 7 << "\xff";
  EXPECT_EQ(shown.str(), "a\n\tb\\u001b[2J7\\xff");
}

TEST(EscapedTextStream, PassesOnCharactersThatComeInPieces) {
  std::ostringstream shown;
  {
    EscapedTextStream out(shown);
    for (const char c : std::string("é€😀\u202e")) out << c;
    out << "\xe2\x82";
    EXPECT_EQ(shown.str(), "é€😀\\u202e");
    out << "\xac" << std::flush;
    EXPECT_EQ(shown.str(), "é€😀\\u202e€");
    out << "\xf0\x9f";
  }
  EXPECT_EQ(shown.str(), "é€😀\\u202e€\\xf0\\x9f");
}

TEST(EscapedTextStream, FailsWhereTheOtherStreamFails) {
  std::ostringstream shown;
  EscapedTextStream out(shown);
  shown.setstate(std::ios::badbit);
  out << "a" << std::flush;
  EXPECT_FALSE(out);
}

}  // namespace
}  // namespace stepwright
