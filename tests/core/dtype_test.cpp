#include "stepwright/core/dtype.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace stepwright {
namespace {

TEST(DType, CountsBytesWithBlockScales) {
  EXPECT_EQ(bytes_of_elements(DType::kFp32, 3), 12);
  EXPECT_EQ(bytes_of_elements(DType::kBf16, 1'000'000'007), 2'000'000'014);
  EXPECT_EQ(bytes_of_elements(DType::kMxfp8, 32), 33);  // 32 elements and one scale.
  EXPECT_EQ(bytes_of_elements(DType::kNvfp4, 16), 9);   // 8 bytes of elements and one scale.
  EXPECT_EQ(bytes_of_elements(DType::kNvfp4, 1), 1);    // Rounded up.
  EXPECT_EQ(bytes_of_elements(DType::kFp64, 0), 0);
}

TEST(DType, CountsVeryLargeTensors) {
  EXPECT_EQ(bytes_of_elements(DType::kFp64, std::int64_t{1} << 50U), std::int64_t{1} << 53U);
}

TEST(DType, HasAWordForEveryType) {
  for (const auto& entry : kDTypeNames) {
    EXPECT_EQ(name_of(kDTypeNames, entry.value), entry.name);
    EXPECT_GT(element_size_centibits(entry.value), 0);
  }
  EXPECT_EQ(name_of(kDTypeNames, DType::kMxfp8), "mxfp8");
}

}  // namespace
}  // namespace stepwright
