#include "stepwright/core/csv.h"

#include <gtest/gtest.h>

#include "tests/core/refusal.h"

namespace stepwright {
namespace {

TEST(Csv, ReadsCellsByColumn) {
  const CsvTable table = parse_csv("id,tp,pp\na,8,4\nb,,2\n", "runs.csv");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells[*table.column("tp")], "8");
  EXPECT_EQ(table.rows[1].cells[*table.column("tp")], "");
  EXPECT_FALSE(table.column("cp"));
}

TEST(Csv, QuotesHoldCommasLineEndsAndQuotes) {
  const CsvTable table = parse_csv("a,b\r\n\"x, \"\"y\"\"\nz\",1\r\nlast,2", "runs.csv");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells[0], "x, \"y\"\nz");
  EXPECT_EQ(table.rows[0].line, 2U);
  EXPECT_EQ(table.rows[1].line, 4U) << "the quoted cell spans a line";
  EXPECT_EQ(table.rows[1].cells[1], "2");
}

TEST(Csv, PassesOverEmptyLinesAndAMarkOfUtf8) {
  const CsvTable table = parse_csv("\xEF\xBB\xBF\n\na\n\n1\n\n", "runs.csv");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.header[0], "a");
  EXPECT_EQ(table.rows[0].line, 5U);
}

TEST(Csv, KeepsAnEmptyLastCell) {
  const CsvTable table = parse_csv("a,b\n1,\n", "runs.csv");
  EXPECT_EQ(table.rows[0].cells, (std::vector<std::string>{"1", ""}));
}

struct BadTable {
  std::string_view text;
  const char* says;
};

class CsvRefuses : public ::testing::TestWithParam<BadTable> {};

TEST_P(CsvRefuses, NamingTheLine) {
  const auto& [text, says] = GetParam();
  const std::string message = refusal([&] { parse_csv(text, "runs.csv"); });
  EXPECT_NE(message.find(says), std::string::npos) << message;
}

TEST(Csv, ALargeTableIsRefusedBeforeItTakesAllMemory) {
  std::string cells = "a\n";
  for (int i = 0; i < 4'000'000; ++i) cells += "1\n";
  EXPECT_EQ(refusal([&] { parse_csv(cells, "t.csv"); }), "t.csv:4000001: more than 4000000 cells");
  EXPECT_EQ(refusal([] { parse_csv(std::string(1U << 20U, ','), "t.csv"); }),
            "t.csv:1: more than 4096 columns");
}

TEST(Csv, RowsMayBeNeeded) {
  EXPECT_EQ(refusal([] { parse_csv("a,b\n", "t.csv").require_table_rows(); }),
            "t.csv: no row below the header; at least one is needed");
  EXPECT_NO_THROW(parse_csv("a,b\n1,2\n", "t.csv").require_table_rows());
}

INSTANTIATE_TEST_SUITE_P(
    Tables, CsvRefuses,
    ::testing::Values(BadTable{"", "runs.csv: empty"}, BadTable{"a,,b\n", "runs.csv:1: a column"},
                      BadTable{"a;b\n1;2\n", "runs.csv:1: cells are separated by semicolons"},
                      BadTable{"a\tb\n", "runs.csv:1: cells are separated by tabs"},
                      BadTable{"a,a\n", "runs.csv:1: the column 'a' occurs twice"},
                      BadTable{"a,b\n1\n", "runs.csv:2: 1 cell; the header names 2 columns"},
                      BadTable{"a\n\"x", "runs.csv:2: a quote is opened here"},
                      BadTable{std::string_view("a\nb\n\0\n", 6), "runs.csv:3:1: a NUL byte"},
                      BadTable{"a\n\"x\"y\n", "runs.csv:2: text stands after the quote"}));

TEST(Csv, TitlesHaveNoBlanksAround) {
  const CsvTable table = parse_csv("tokens , expert\n1,2\n", "runs.csv");
  EXPECT_EQ(table.header, (std::vector<std::string>{"tokens", "expert"}));
}

TEST(Csv, AColumnThatIsNearlyAMissingOneIsRefused) {
  constexpr std::string_view kKnown[] = {"model", "layers", "tp"};
  const auto check = [&](const char* header) {
    parse_csv(header, "t.csv").refuse_misspelt_column_titles(kKnown);
  };
  EXPECT_EQ(refusal([&] { check("model,layer,tp"); }),
            "t.csv:1: unknown column 'layer'; did you mean 'layers'? (give columns of your own a "
            "name that differs more from known ones)");
  EXPECT_NO_THROW(check("model,layer,layers,tp"));  // both are there
  EXPECT_NO_THROW(check("model,layers,dp,my_notes"));
  EXPECT_NO_THROW(check("label,layers,tp"));  // another word than model
}

TEST(Csv, RefusesAMissingFile) {
  const std::string message = refusal([] { load_csv("no/such.csv"); });
  EXPECT_EQ(message, "no/such.csv: no such file");
}

TEST(Csv, RefusesACarriageReturnThatEndsNoLine) {
  EXPECT_EQ(parse_csv("a,b\r\n1,2\r\n", "t").rows.size(), 1);
  for (const char* text : {"a,b\r1,2\r", "a,b\n1,2\r3,4\n"}) {
    EXPECT_THROW(parse_csv(text, "t"), Error) << text;
  }
}

}  // namespace
}  // namespace stepwright
