#include "stepwright/core/count.h"

#include <gtest/gtest.h>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

std::int64_t count_of(const char* yaml) {
  const YamlJsonDocument document = YamlJsonDocument::parse(yaml, "file");
  return read_batch_or_sequence_size(document.root().get("n"), 1, 1'000'000'000);
}

TEST(Count, IsTypedAsAPowerOfTwo) {
  EXPECT_EQ(count_of("n: 4k"), 4096);
  EXPECT_EQ(count_of("n: 128K"), 131'072);
  EXPECT_EQ(count_of("n: 4M"), 4'194'304);
  EXPECT_EQ(count_of("n: 4096"), 4096);
  EXPECT_EQ(count_of("n: 40e6"), 40'000'000);
}

TEST(Count, RefusesOtherWords) {
  for (const char* yaml : {"n: 4x", "n: k", "n: 1.5k", "n: '4096'", "n: 4 k", "n: -4k", "n: 0k",
                           "n: 5000M", "n: 99999999999999999M", "n: [4k]", "n: 4G"}) {
    EXPECT_THROW(count_of(yaml), Error) << yaml;
  }
}

}  // namespace
}  // namespace stepwright
