#include "stepwright/lab/line_prefix.h"

#include <gtest/gtest.h>

#include <sstream>

namespace stepwright::lab {
namespace {

TEST(PrefixedLineWriter, WritesWholeLinesOnly) {
  std::ostringstream out;
  PrefixedLineWriter lines("[3] ");
  lines.add("one\ntw", out);
  EXPECT_EQ(out.str(), "[3] one\n");
  lines.add("o", out);
  lines.add("\n\nthree", out);
  EXPECT_EQ(out.str(), "[3] one\n[3] two\n[3] \n");
  lines.finish(out);
  EXPECT_EQ(out.str(), "[3] one\n[3] two\n[3] \n[3] three\n");
  lines.finish(out);
  EXPECT_EQ(out.str(), "[3] one\n[3] two\n[3] \n[3] three\n");
}

TEST(PrefixedLineWriter, CutsALineWithoutEnd) {
  std::ostringstream out;
  PrefixedLineWriter lines("> ");
  lines.add(std::string(PrefixedLineWriter::kLongestLine, 'x'), out);
  EXPECT_EQ(out.str().size(), PrefixedLineWriter::kLongestLine + 3);
}

}  // namespace
}  // namespace stepwright::lab
