#include "stepwright/checkpoint/safetensors.h"

#include <gmock/gmock.h>

#include <cstring>

#include "stepwright/checkpoint/shards.h"
#include "tests/checkpoint/refusal.h"
#include "tests/folder.h"

namespace stepwright::testing {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& header, std::size_t bytes) {
  std::string text(8, '\0');
  const std::uint64_t size = header.size();
  std::memcpy(text.data(), &size, 8);
  return text + header + std::string(bytes, 'x');
}

std::string refusal(const std::string& file) {
  return refusal_of([&] {
    (void)checkpoint::read_safetensors_header(std::as_bytes(std::span(file)), "w.safetensors");
  });
}

std::string two(const char* first, const char* second) {
  return std::string(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)") + first +
         R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + second + "}}";
}

TEST(Safetensors, ReadsWhatItWrote) {
  const Folder folder;
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  const auto bytes = std::as_bytes(std::span(numbers));
  const checkpoint::FileChecksum sum = checkpoint::write_safetensors_file(
      folder.path() / "w",
      {{"m", "F64", {2, 2}, bytes.first(32)}, {"v", "F64", {2}, bytes.last(16)}});
  const checkpoint::SafetensorsFile file(folder.path() / "w");
  EXPECT_EQ(static_cast<std::int64_t>(file.file().size()), sum.bytes);
  EXPECT_EQ(checkpoint::checksum(file.file()), sum.checksum);
  const checkpoint::SafetensorsEntry& v = file.tensors().at("v");
  double last = 0;
  std::memcpy(&last, file.bytes_of(v).data() + 8, 8);
  EXPECT_EQ(last, 6);
  EXPECT_EQ(file.tensors().at("m").shape, (std::vector<std::int64_t>{2, 2}));
}

TEST(Safetensors, RefusesWhatIsTruncated) {
  EXPECT_THAT(refusal("abc"),
              HasSubstr("w.safetensors: a file of 3 bytes is not a safetensors file"));
  EXPECT_THAT(refusal(file_of("{}", 0).substr(0, 9)), HasSubstr("the header should have 2 bytes"));
  EXPECT_THAT(refusal(file_of(two("[0,8]", "[8,16]"), 15)), HasSubstr("truncated"));
}

TEST(Safetensors, RefusesPlacesThatOverlapOrLeaveHoles) {
  EXPECT_EQ(refusal(file_of(two("[0,8]", "[8,16]"), 16)), "");
  EXPECT_THAT(refusal(file_of(two("[0,8]", "[4,12]"), 12)), HasSubstr("inside the tensor before"));
  EXPECT_THAT(refusal(file_of(two("[0,8]", "[12,20]"), 20)), HasSubstr("tensor 'b' begins"));
  EXPECT_THAT(refusal(file_of(two("[0,8]", "[8,16]"), 17)), HasSubstr("something stands behind"));
}

TEST(Safetensors, RefusesHeadersThatContradictThemselves) {
  EXPECT_THAT(refusal(file_of("[1]", 0)), HasSubstr("not a JSON mapping"));
  EXPECT_THAT(refusal(file_of("{\"a\":", 0)), HasSubstr("not a JSON mapping"));
  EXPECT_THAT(refusal(file_of(two("[0,7]", "[7,15]"), 15)),
              HasSubstr("tensor 'a': its offsets hold 7 bytes"));
  EXPECT_THAT(refusal(file_of(R"({"a":{"dtype":"F9","shape":[],"data_offsets":[0,4]}})", 4)),
              HasSubstr("dtype 'F9' is not known"));
  EXPECT_THAT(refusal(file_of(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4)),
              HasSubstr("shape is not a list of sizes"));
  EXPECT_THAT(
      refusal(file_of(
          R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0)),
      HasSubstr("more than a file can hold"));
  EXPECT_THAT(refusal(file_of(two("[-8,0]", "[0,8]"), 8)),
              HasSubstr("tensor 'a': data_offsets must be a begin and an end"));
  EXPECT_THAT(refusal(file_of(two("[0,18446744073709551615]", "[0,8]"), 8)),
              HasSubstr("tensor 'a': data_offsets must be a begin and an end"));
  EXPECT_THAT(
      refusal(file_of(R"({"a\u0000b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4)),
      HasSubstr("w.safetensors: tensor 'a\\x00b': its name has control characters"));
  std::string many = "{\"a\":[1";
  for (int i = 0; i < 2'000'000; ++i) many += ",1";
  EXPECT_THAT(refusal(file_of(many + "]}", 0)),
              HasSubstr("the header has more than 2000000 values"));
  const std::string long_header(8, '\x7f');
  EXPECT_THAT(refusal(long_header), HasSubstr("headers have at most 100000000"));
}

}  // namespace
}  // namespace stepwright::testing
