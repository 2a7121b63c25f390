#include "stepwright/packing/length_file.h"

#include <gmock/gmock.h>

#include "stepwright/core/error.h"

namespace stepwright::packing {
namespace {

using ::testing::HasSubstr;

LengthHistogram read(const std::string& text) {
  const YamlJsonDocument document = YamlJsonDocument::parse("list: " + text, "job.yaml");
  return read_length_histogram(document.root().get("list"));
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

TEST(LengthFile, ReadsPairsInAnyOrder) {
  EXPECT_EQ(read("[[512, 3], [128, 1.5], [64, 0]]"), (LengthHistogram{{128, 1.5}, {512, 3}}));
}

TEST(LengthFile, RefusesWhatIsNoHistogram) {
  EXPECT_THAT(refusal("[]"), HasSubstr("at least one"));
  EXPECT_THAT(refusal("512"), HasSubstr("must be a list"));
  EXPECT_THAT(refusal("[512, 3]"), HasSubstr("list.0: "));
  EXPECT_THAT(refusal("[[512, -3]]"), HasSubstr("list.0.1"));
  EXPECT_THAT(refusal("[[0, 3]]"), HasSubstr("list.0.0"));
  EXPECT_THAT(refusal("[[512, 0]]"), HasSubstr("all counts are 0"));
  EXPECT_THAT(refusal("[[512, 3, 4]]"), HasSubstr("must be [length, count]"));
}

TEST(LengthFile, ReadsWhatItWrites) {
  const LengthHistogram histogram = {{1, 12}, {4096, 0.25}};
  const std::string text = length_histogram_text(histogram, "from data.jsonl\n2 documents");
  EXPECT_THAT(text, HasSubstr("# from data.jsonl\n# 2 documents\nstepwright: lengths/1\n"));
  const YamlJsonDocument document = YamlJsonDocument::parse(text, "lengths.yaml");
  EXPECT_EQ(read_length_histogram(document.root().get("histogram")), histogram);
}

}  // namespace
}  // namespace stepwright::packing
