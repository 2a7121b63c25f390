#include "stepwright/core/quantity.h"

#include <gmock/gmock.h>

#include <string>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

using testing::HasSubstr;

double read(const std::string& value, Quantity quantity) {
  const Document document = Document::parse("nic: " + value, "file.yaml");
  return read_quantity(document.root().get("nic"), quantity, 1e-9, 1e18);
}

std::string refused(const std::string& value, Quantity quantity) {
  try {
    read(value, quantity);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

TEST(Quantity, ReadsNumbersWithAndWithoutUnits) {
  EXPECT_EQ(read("50e9", Quantity::kRate), 50e9);
  EXPECT_EQ(read("400 Gbit/s", Quantity::kRate), 50e9);
  EXPECT_EQ(read("400Gbit/s", Quantity::kRate), 50e9);
  EXPECT_EQ(read("\"50 GB/s\"", Quantity::kRate), 50e9);
  EXPECT_EQ(read("80 GiB", Quantity::kBytes), 80 * 1024.0 * 1024 * 1024);
  EXPECT_EQ(read("80 GB", Quantity::kBytes), 80e9);
  EXPECT_EQ(read("1.5 us", Quantity::kTime), 1.5e-6);
  EXPECT_EQ(read("1.5 µs", Quantity::kTime), 1.5e-6);
  EXPECT_EQ(read("3 s", Quantity::kTime), 3);
  EXPECT_EQ(read("989.5 TFLOP/s", Quantity::kFlops), 989.5e12);
}

TEST(Quantity, RefusesOtherUnitsAndNamesItsOwn) {
  EXPECT_THAT(
      refused("400 Gb/s", Quantity::kRate),
      HasSubstr("file.yaml:1:6: nic: must be a number of bytes/s, or one with a unit as 400 "
                "Gbit/s (units: B/s, kB/s, "));
  EXPECT_THAT(refused("80 GiB", Quantity::kRate), HasSubstr("it is '80 GiB'"));
  EXPECT_THAT(refused("80 Gbit/s", Quantity::kBytes), HasSubstr("as 80 GiB"));
  EXPECT_THAT(refused("many us", Quantity::kTime), HasSubstr("it is 'many us'"));
  EXPECT_THAT(refused("us", Quantity::kTime), HasSubstr("it is 'us'"));
}

TEST(Quantity, KeepsItsRange) {
  EXPECT_THAT(refused("-1", Quantity::kBytes), HasSubstr("must be a number from"));
  EXPECT_THAT(refused("1e18 GB", Quantity::kBytes), HasSubstr("must be from 1e-09 to 1e+18 bytes"));
  EXPECT_THAT(refused("[1]", Quantity::kBytes), HasSubstr("it is a list"));
}

}  // namespace
}  // namespace stepwright
