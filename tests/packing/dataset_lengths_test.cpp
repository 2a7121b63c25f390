#include "stepwright/packing/dataset_lengths.h"

#include <gmock/gmock.h>

#include <fstream>

#include "stepwright/core/error.h"
#include "tests/folder.h"

namespace stepwright::packing {
namespace {

using ::testing::HasSubstr;

class DatasetLengthsTest : public ::testing::Test {
 protected:
  DatasetDocumentLengths read(const std::string& text, const DocumentLengthField& field) {
    std::ofstream(folder_ / "data.jsonl", std::ios::binary) << text;
    return read_dataset_lengths(folder_ / "data.jsonl", field);
  }
  std::string refusal(const std::string& text, const DocumentLengthField& field) {
    try {
      read(text, field);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.what();
    }
    return "";
  }
  Folder folder_;
};

TEST_F(DatasetLengthsTest, CountsTokenIdsAndTakesLengths) {
  const DatasetDocumentLengths made = read(
      "{\"input_ids\": [1, 2, 3], \"n\": 7}\n\n{\"n\": 3, \"input_ids\": [4]}\r\n"
      "{\"input_ids\": [], \"n\": 7}",
      {.name = "input_ids"});
  EXPECT_EQ(made.histogram, (LengthHistogram{{1, 1}, {3, 1}}));
  EXPECT_EQ(made.empty, 1);
  EXPECT_EQ(read("{\"a\": {\"n\": 5}}\n{\"a\": {\"n\": 5}}\n", {.name = "a.n"}).histogram,
            (LengthHistogram{{5, 2}}));
}

/// A line is one document; a key that it has twice is refused, not silently dropped.
TEST_F(DatasetLengthsTest, DropsNothingOfALineInSilence) {
  const DocumentLengthField field{.name = "a"};
  EXPECT_THAT(refusal("{\"a\": [1]}{\"a\": [1, 2]}\n", field),
              HasSubstr("data.jsonl:1: text after the end of the document"));
  EXPECT_THAT(refusal("{\"a\": [1]}\r{\"a\": [1, 2]}\r", field), HasSubstr("text after the end"));
  EXPECT_THAT(refusal("{\"a\": [1]} x\n", field),
              HasSubstr("data.jsonl:1:12: malformed JSON: text after the end"));
  EXPECT_THAT(refusal("{\"b\": 1}\n", field), HasSubstr("has no field 'a'"));
  EXPECT_THAT(refusal("{\"a\": [1], \"a\": [1, 2]}\n", field), HasSubstr("has the key 'a' twice"));
  EXPECT_THAT(refusal("{\"b\": 1, \"a\": [1], \"b\": 2}\n", field),
              HasSubstr("has the key 'b' twice"));
  EXPECT_THAT(refusal("{\"a\": {\"n\": 1, \"n\": 2}}\n", {.name = "a.n"}),
              HasSubstr("has the key 'n' twice"));
  EXPECT_THAT(refusal("{\"a\": [1]\n", field), HasSubstr("data.jsonl:1:10: malformed JSON"));
  EXPECT_THAT(refusal(std::string("\xFF\xFE{\0", 4), field), HasSubstr("is UTF-16"));
  EXPECT_EQ(read("\xEF\xBB\xBF{\"a\": [1]}\n", field).histogram, (LengthHistogram{{1, 1}}));
  EXPECT_EQ(read("{\"a\": [1]} \t\r\n", field).histogram, (LengthHistogram{{1, 1}}));
}

TEST_F(DatasetLengthsTest, CountsCharactersOfTextWhereTheyAreSaidToBeTokens) {
  const std::string text = "{\"text\": \"\u00e4\u00f6\u00fc \\u00e4bcd\"}\n";
  EXPECT_EQ(read(text, {.name = "text", .characters_per_token = 4}).histogram,
            (LengthHistogram{{2, 1}}));
  EXPECT_THAT(refusal(text, {.name = "text"}), HasSubstr("--characters-per-token"));
  EXPECT_TRUE(read(text, {.name = "text", .characters_per_token = 4}).counts_characters);
  EXPECT_FALSE(read("{\"a\": [1]}\n", {.name = "a"}).counts_characters);
}

TEST_F(DatasetLengthsTest, CountsTheTurnsOfConversations) {
  const std::string text =
      "{\"m\": [{\"role\": \"user\", \"content\": \"abcd\"}, {\"role\": \"assistant\", "
      "\"content\": "
      "[{\"type\": \"text\", \"text\": \"efgh\"}, {\"type\": \"image\"}]}]}\n"
      "{\"m\": [{\"from\": \"human\", \"value\": \"ab\"}, {\"from\": \"gpt\", \"value\": null}]}\n"
      "{\"m\": []}\n";
  const DatasetDocumentLengths made = read(text, {.name = "m", .characters_per_token = 2});
  EXPECT_EQ(made.histogram, (LengthHistogram{{1, 1}, {4, 1}}));
  EXPECT_EQ(made.empty, 1);
  EXPECT_THAT(refusal(text, {.name = "m"}),
              HasSubstr("'m' is text: state the length of its tokens with --characters-per-token"));
  EXPECT_THAT(refusal("{\"m\": [{\"role\": \"user\"}]}\n", {.name = "m"}),
              HasSubstr("data.jsonl:1: a turn of 'm' has neither content nor value"));
  EXPECT_THAT(refusal("{\"m\": [1, {\"value\": \"a\"}]}\n", {.name = "m"}),
              HasSubstr("not a token id"));
}

TEST_F(DatasetLengthsTest, NamesTheLineThatIsWrong) {
  EXPECT_THAT(refusal("PAR1\x15\x04", {.name = "n"}), HasSubstr("data.jsonl: is Parquet"));
  EXPECT_THAT(refusal("{\"n\": 1}\n{\"m\": 1}\n", {.name = "n"}),
              HasSubstr("data.jsonl:2: has no field 'n'"));
  EXPECT_THAT(refusal("{\"n\": 1}\nnonsense\n", {.name = "n"}), HasSubstr("data.jsonl:2: is not"));
  EXPECT_THAT(refusal("{\"n\": 1}\n[1]\n", {.name = "n"}),
              HasSubstr("data.jsonl:2: is not a JSON object"));
  EXPECT_THAT(refusal("\n [{\"n\": 1},\n", {.name = "n"}), HasSubstr("data.jsonl: is one list"));
  EXPECT_THAT(refusal("\x1f\x8b\x08", {.name = "n"}),
              HasSubstr("data.jsonl: is a gzip file: unpack it"));
  EXPECT_THAT(refusal("{\"n\": -1}\n", {.name = "n"}), HasSubstr("whole number of tokens"));
  EXPECT_THAT(refusal("{\"n\": -1}\n", {.name = "n"}), HasSubstr("it is -1"));
  EXPECT_THAT(refusal("{\"n\": 1.5}\n", {.name = "n"}), HasSubstr("whole number"));
  EXPECT_THAT(refusal("{\"n\": [1, [2]]}\n", {.name = "n"}), HasSubstr("not a token id"));
  EXPECT_THAT(refusal("{\"n\": null}\n", {.name = "n"}), HasSubstr("must be a list"));
  EXPECT_THROW(read_dataset_lengths(folder_ / "none.jsonl", {.name = "n"}), Error);
  EXPECT_THROW(read_dataset_lengths(folder_.path(), {.name = "n"}), Error);
}

TEST_F(DatasetLengthsTest, ReadsLinesLongerThanABlock) {
  std::string text = "{\"ids\": [";
  constexpr int kIds = 3'000'000;
  for (int i = 0; i < kIds; ++i) text += i == 0 ? "1" : ",1";
  text += "]}\n{\"ids\": [1]}\n";
  const LengthHistogram made = read(text, {.name = "ids"}).histogram;
  EXPECT_EQ(made, (LengthHistogram{{1, 1}, {kIds, 1}}));
}

TEST_F(DatasetLengthsTest, ManyLengthsBecomeFewWithAsManyDocuments) {
  LengthHistogram histogram;
  for (std::int64_t i = 1; i <= 1000; ++i) histogram.push_back({i, 3});
  const LengthHistogram fewer = coarsened_length_histogram(histogram, 100);
  EXPECT_EQ(fewer.size(), 100U);
  EXPECT_EQ(total_document_count(fewer), 3000);
  EXPECT_NEAR(total_tokens(fewer) / total_tokens(histogram), 1, 1e-3);
  EXPECT_EQ(coarsened_length_histogram(histogram, 1000), histogram);
}

}  // namespace
}  // namespace stepwright::packing
