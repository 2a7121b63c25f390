#include "stepwright/core/table.h"

#include <gtest/gtest.h>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

TEST(Table, AlignsColumns) {
  const TextTable table{{{"group", ColumnAlignment::kLeft}, {"time", ColumnAlignment::kRight}},
                        {{"tensor", "12.5 ms"}, {"data", "3.40 µs"}, {"", "1 s"}}};
  EXPECT_EQ(format_text_table(table),
            "group      time\n"
            "------  -------\n"
            "tensor  12.5 ms\n"
            "data    3.40 µs\n"
            "            1 s\n");
}

TEST(Table, LeavesNoSpacesAtTheEndOfALine) {
  const TextTable table{{{"a"}, {"wide header"}}, {{"1", "x"}, {"2", ""}}};
  EXPECT_EQ(format_text_table(table), "a  wide header\n-  -----------\n1  x\n2\n");
}

TEST(Table, WritesHeadersWithoutRows) {
  EXPECT_EQ(format_text_table({{{"a"}, {"b"}}, {}}), "a  b\n-  -\n");
}

TEST(Table, RejectsRowsOfAnotherWidth) {
  EXPECT_THROW((void)format_text_table({{{"a"}, {"b"}}, {{"1"}}}), Error);
}

}  // namespace
}  // namespace stepwright
