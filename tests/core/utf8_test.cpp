#include "stepwright/core/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace stepwright {
namespace {

constexpr std::size_t kNone = std::string::npos;

TEST(Utf8, AcceptsEveryLength) { EXPECT_EQ(find_bad_utf8("a µ € 😀"), kNone); }

TEST(Utf8, FindsMalformedCharacters) {
  EXPECT_EQ(find_bad_utf8("ab\xFF"), 2U);
  EXPECT_EQ(find_bad_utf8("\x80"), 0U);              // A continuation without a lead.
  EXPECT_EQ(find_bad_utf8("a\xC2"), 1U);             // Cut short.
  EXPECT_EQ(find_bad_utf8("\xC0\xAF"), 0U);          // Overlong.
  EXPECT_EQ(find_bad_utf8("\xE0\x80\xAF"), 0U);      // Overlong.
  EXPECT_EQ(find_bad_utf8("\xED\xA0\x80"), 0U);      // A surrogate.
  EXPECT_EQ(find_bad_utf8("\xF0\x80\x80\x80"), 0U);  // Overlong.
  EXPECT_EQ(find_bad_utf8("\xF4\x90\x80\x80"), 0U);  // Beyond U+10FFFF.
}

TEST(Utf8, CountsCharacters) { EXPECT_EQ(count_characters("3.4 µs"), 6U); }

TEST(Utf8, EscapesAndCutsTextForMessages) {
  EXPECT_EQ(one_line_printable_text("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(one_line_printable_text("a\xe2\x80\xae"), "a\\u202e");
  EXPECT_EQ(one_line_printable_text("a\xff"), "a\\xff");
  EXPECT_EQ(one_line_printable_text("abcdef", 4), "abcd...");
  EXPECT_EQ(one_line_printable_text("abcµ", 4), "abc...");
  EXPECT_EQ(one_line_printable_text("a\u2028\ufffe"), "a\\u2028\\ufffe");
}

TEST(Utf8, FindsWhatATerminalObeys) {
  EXPECT_EQ(find_unprintable("Größe € 😀 \u00a0 \ufeff"), kNone);
  for (const char* text : {"a\n", "a\x7f", "a\u0080", "a\u009f", "a\u2029", "a\u2067", "a\xff"}) {
    EXPECT_EQ(find_unprintable(text), 1U) << one_line_printable_text(text);
  }
}

TEST(Utf8, KeepsLinesOfTextForTerminals) {
  EXPECT_EQ(terminal_safe_text("a\n\tb € \x1b[2J\r\x7f\u009b\u202e\xff"),
            "a\n\tb € \\u001b[2J\\u000d\\u007f\\u009b\\u202e\\xff");
}

}  // namespace
}  // namespace stepwright
