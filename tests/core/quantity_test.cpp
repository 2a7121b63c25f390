#include "stepwright/core/quantity.h"

#include <gmock/gmock.h>

#include <string>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

using testing::HasSubstr;

double read(const std::string& value, QuantityKind quantity) {
  const YamlJsonDocument document = YamlJsonDocument::parse("nic: " + value, "file.yaml");
  return read_quantity(document.root().get("nic"), quantity, 1e-9, 1e18);
}

std::string refused(const std::string& value, QuantityKind quantity) {
  try {
    read(value, quantity);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

TEST(QuantityKind, ReadsNumbersWithAndWithoutUnits) {
  EXPECT_EQ(read("50e9", QuantityKind::kRate), 50e9);
  EXPECT_EQ(read("400 Gbit/s", QuantityKind::kRate), 50e9);
  EXPECT_EQ(read("400Gbit/s", QuantityKind::kRate), 50e9);
  EXPECT_EQ(read("\"50 GB/s\"", QuantityKind::kRate), 50e9);
  EXPECT_EQ(read("80 GiB", QuantityKind::kBytes), 80 * 1024.0 * 1024 * 1024);
  EXPECT_EQ(read("80 GB", QuantityKind::kBytes), 80e9);
  EXPECT_EQ(read("1.5 us", QuantityKind::kTime), 1.5e-6);
  EXPECT_EQ(read("1.5 µs", QuantityKind::kTime), 1.5e-6);
  EXPECT_EQ(read("3 s", QuantityKind::kTime), 3);
  EXPECT_EQ(read("989.5 TFLOP/s", QuantityKind::kFlops), 989.5e12);
}

TEST(QuantityKind, RefusesOtherUnitsAndNamesItsOwn) {
  EXPECT_THAT(
      refused("400 Gb/s", QuantityKind::kRate),
      HasSubstr("file.yaml:1:6: nic: must be a number of bytes/s, or one with a unit as 400 "
                "Gbit/s (units: B/s, kB/s, "));
  EXPECT_THAT(refused("80 GiB", QuantityKind::kRate), HasSubstr("it is '80 GiB'"));
  EXPECT_THAT(refused("80 Gbit/s", QuantityKind::kBytes), HasSubstr("as 80 GiB"));
  EXPECT_THAT(refused("many us", QuantityKind::kTime), HasSubstr("it is 'many us'"));
  EXPECT_THAT(refused("us", QuantityKind::kTime), HasSubstr("it is 'us'"));
}

TEST(QuantityKind, KeepsItsRange) {
  EXPECT_THAT(refused("-1", QuantityKind::kBytes), HasSubstr("must be a number from"));
  EXPECT_THAT(refused("1e18 GB", QuantityKind::kBytes),
              HasSubstr("must be from 1e-09 to 1e+18 bytes"));
  EXPECT_THAT(refused("[1]", QuantityKind::kBytes), HasSubstr("it is a list"));
}

}  // namespace
}  // namespace stepwright
