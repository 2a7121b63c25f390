#include "stepwright/runtime/data/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <string>

#include "stepwright/core/error.h"
#include "tests/folder.h"

namespace stepwright::runtime {
namespace {

using ::testing::HasSubstr;

class Files : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  static std::string message_of(const std::filesystem::path& path, TokenFileFormat format) {
    try {
      const TokenFile file(path, format, 1000);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.what();
    }
    return "accepted";
  }

  Folder folder_;
};

template <class Integer>
std::string bytes_of(std::initializer_list<Integer> values) {
  std::string bytes;
  for (const Integer value : values) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

std::string index_of(std::uint8_t type, std::initializer_list<std::int32_t> lengths) {
  std::string bytes("MMIDIDX\0\0", 9);
  bytes += bytes_of<std::uint64_t>({1}) + bytes_of<std::uint8_t>({type});
  bytes += bytes_of<std::uint64_t>({lengths.size(), lengths.size() + 1});
  return bytes + bytes_of<std::int32_t>(lengths);
}

TEST_F(Files, TextIsATokenAByte) {
  const auto path = write("a.txt", "ab");
  EXPECT_EQ(data_file_token_format(path), TokenFileFormat::kText);
  const TokenFile file(path, TokenFileFormat::kText, 256);
  EXPECT_EQ(file.size(), 2);
  EXPECT_EQ(file.at(1), 'b');
}

TEST_F(Files, RawTokensAreLittleEndian) {
  const auto path = write("a.u16", bytes_of<std::uint16_t>({7, 999}));
  EXPECT_EQ(data_file_token_format(path), TokenFileFormat::kUint16);
  EXPECT_EQ(TokenFile(path, TokenFileFormat::kUint16, 1000).at(1), 999);
  const auto wide = write("a.u32", bytes_of<std::uint32_t>({7, 70000}));
  EXPECT_EQ(TokenFile(wide, data_file_token_format(wide), 100000).at(1), 70000);
}

TEST_F(Files, MegatronDataHasAnIndex) {
  const auto path = write("a.bin", bytes_of<std::int32_t>({1, 2, 3}));
  EXPECT_EQ(data_file_token_format(path), TokenFileFormat::kText);
  write("a.idx", index_of(4, {1, 2}));
  EXPECT_EQ(data_file_token_format(path), TokenFileFormat::kMegatron);
  const TokenFile file(path, TokenFileFormat::kMegatron, 10);
  EXPECT_EQ(file.size(), 3);
  EXPECT_EQ(file.at(2), 3);
}

TEST_F(Files, RefusesWhatContradictsItself) {
  EXPECT_THAT(message_of(folder_ / "none", TokenFileFormat::kText), HasSubstr("no such file"));
  EXPECT_THAT(message_of(write("e", ""), TokenFileFormat::kText), HasSubstr("is empty"));
  EXPECT_THAT(message_of(write("b.u16", "abc"), TokenFileFormat::kUint16), HasSubstr("truncated"));
  EXPECT_THAT(message_of(write("c.u16", bytes_of<std::uint16_t>({1000})), TokenFileFormat::kUint16),
              HasSubstr("token 1000 at position 0"));
  const auto path = write("d.bin", bytes_of<std::int32_t>({1, 2}));
  write("d.idx", index_of(4, {1, 2}));
  EXPECT_THAT(message_of(path, TokenFileFormat::kMegatron), HasSubstr("its index states 3"));
  write("d.idx", "MMIDIDX");
  EXPECT_THAT(message_of(path, TokenFileFormat::kMegatron), HasSubstr("not an index"));
  write("d.idx", index_of(6, {2}));
  EXPECT_THAT(message_of(path, TokenFileFormat::kMegatron), HasSubstr("not a type of tokens"));
}

TEST_F(Files, SamplesMeetEveryWindowOnceAnEpoch) {
  const auto path = write("f.txt", std::string(41, 'x'));
  const TokenFile file(path, TokenFileFormat::kText, 256);
  ShuffledSamples samples(file, 4, 3, path);
  std::set<std::int64_t> first;
  std::vector<std::int64_t> epochs[2];
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::int64_t begin = samples.begin(i);
    EXPECT_EQ(begin % 4, 0);
    EXPECT_LE(begin + 4, 40);
    epochs[i / 10].push_back(begin);
    if (i < 10) first.insert(begin);
  }
  EXPECT_EQ(first.size(), 10U);
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_EQ(samples.begin(3), epochs[0][3]);
  EXPECT_THROW(ShuffledSamples(file, 41, 3, path), Error);
}

}  // namespace
}  // namespace stepwright::runtime
