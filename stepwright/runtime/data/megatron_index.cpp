#include "stepwright/runtime/data/megatron_index.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/core/mapped_file.h"

namespace stepwright::runtime {
namespace {

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
constexpr std::size_t kHeaderBytes = 9 + 8 + 1 + 8 + 8;

template <class Integer>
Integer read_at(std::span<const std::byte> bytes, std::size_t offset) {
  Integer value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

/// Returns the bytes of a token by the index's numpy type code; 0: not a type of tokens.
int token_width(std::uint8_t code) {
  switch (code) {
    case 1: return 1;  // uint8
    case 4: return 4;  // int32
    case 5: return 8;  // int64
    case 8: return 2;  // uint16
    default: return 0;
  }
}

}  // namespace

MegatronDatasetIndex read_megatron_index(const std::filesystem::path& data) {
  std::filesystem::path path = data;
  path.replace_extension(".idx");
  const MappedFile file(path);
  const std::span<const std::byte> bytes = file.bytes();
  const auto fail = [&](const std::string& what) {
    fail_input(fmt::format("{}: {}", path.string(), what));
  };
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    fail("is not an index of a Megatron data set");
  }
  const auto version = read_at<std::uint64_t>(bytes, 9);
  if (version != 1) fail(fmt::format("has version {}; only 1 is known", version));
  MegatronDatasetIndex index;
  const auto code = read_at<std::uint8_t>(bytes, 17);
  index.token_bytes = token_width(code);
  if (index.token_bytes == 0) fail(fmt::format("type code {} is not a type of tokens", code));
  index.sequences = read_at<std::int64_t>(bytes, 18);
  const auto left = static_cast<std::int64_t>(bytes.size() - kHeaderBytes);
  if (index.sequences < 0 || index.sequences > left / 4) fail("is truncated");
  for (std::int64_t i = 0; i < index.sequences; ++i) {
    index.tokens += read_at<std::int32_t>(bytes, kHeaderBytes + static_cast<std::size_t>(i) * 4);
  }
  return index;
}

}  // namespace stepwright::runtime
