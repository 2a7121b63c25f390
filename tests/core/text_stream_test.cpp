#include "stepwright/core/text_stream.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace stepwright {
namespace {

TEST(TextStream, EscapesAllButLines) {
  std::ostringstream shown;
  TextStream(shown) << "a\n\tb" << '\x1b' << "[2J" << 7 << "\xff";
  EXPECT_EQ(shown.str(), "a\n\tb\\u001b[2J7\\xff");
}

TEST(TextStream, PassesOnCharactersThatComeInPieces) {
  std::ostringstream shown;
  {
    TextStream out(shown);
    for (const char c : std::string("é€😀\u202e")) out << c;
    out << "\xe2\x82";
    EXPECT_EQ(shown.str(), "é€😀\\u202e");
    out << "\xac" << std::flush;
    EXPECT_EQ(shown.str(), "é€😀\\u202e€");
    out << "\xf0\x9f";
  }
  EXPECT_EQ(shown.str(), "é€😀\\u202e€\\xf0\\x9f");
}

TEST(TextStream, FailsWhereTheOtherStreamFails) {
  std::ostringstream shown;
  TextStream out(shown);
  shown.setstate(std::ios::badbit);
  out << "a" << std::flush;
  EXPECT_FALSE(out);
}

}  // namespace
}  // namespace stepwright
