#include "stepwright/runtime/data/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "stepwright/checkpoint/durable_file.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/runtime/data/megatron_index.h"
#include "stepwright/runtime/seeded_hash.h"

namespace stepwright::runtime {
namespace {

template <class Integer>
std::int64_t stored(std::span<const std::byte> bytes, std::int64_t index) {
  Integer value{};
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(index) * sizeof(value),
              sizeof(value));
  return static_cast<std::int64_t>(value);
}

int width_of(const std::filesystem::path& path, TokenFileFormat format) {
  switch (format) {
    case TokenFileFormat::kText: return 1;
    case TokenFileFormat::kUint16: return 2;
    case TokenFileFormat::kUint32: return 4;
    case TokenFileFormat::kMegatron: return read_megatron_index(path).token_bytes;
  }
  return 1;
}

}  // namespace

TokenFileFormat data_file_token_format(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".u16") return TokenFileFormat::kUint16;
  if (ending == ".u32") return TokenFileFormat::kUint32;
  std::filesystem::path index = path;
  index.replace_extension(".idx");
  if (ending == ".bin" && path_exists(index)) return TokenFileFormat::kMegatron;
  return TokenFileFormat::kText;
}

TokenFileFormat data_file_token_format(const std::filesystem::path& path, std::string_view word) {
  if (word.empty()) return data_file_token_format(path);
  for (const auto& entry : kTokenFormatNames) {
    if (entry.name == word) return entry.value;
  }
  fail_input(
      fmt::format("--data-format: '{}' must be one of text, uint16, uint32, megatron", word));
}

TokenFile::TokenFile(const std::filesystem::path& path, TokenFileFormat format,
                     std::int64_t vocabulary)
    : file_(path), width_(width_of(path, format)) {
  const auto bytes = static_cast<std::int64_t>(file_.bytes().size());
  if (bytes % width_ != 0) {
    fail_input(
        fmt::format("{}: {} bytes are not a whole number of {}-byte tokens; the file is truncated "
                    "or of another format",
                    path.string(), bytes, width_));
  }
  size_ = bytes / width_;
  if (format == TokenFileFormat::kMegatron) {
    const std::int64_t expected = read_megatron_index(path).tokens;
    if (expected != size_) {
      fail_input(fmt::format("{}: contains {} tokens, but its index states {}", path.string(),
                             size_, expected));
    }
  }
  read_all(path, vocabulary);
}

/// Checks the tokens and computes the checksum block by block, so that each block is read once.
void TokenFile::read_all(const std::filesystem::path& path, std::int64_t vocabulary) {
  constexpr std::int64_t kBlock = 1 << 17;
  checkpoint::RunningChecksum sum;
  for (std::int64_t first = 0; first < size_; first += kBlock) {
    const std::int64_t end = std::min(size_, first + kBlock);
    for (std::int64_t i = first; i < end; ++i) {
      if (at(i) >= 0 && at(i) < vocabulary) continue;
      fail_input(
          fmt::format("{}: token {} at position {} is not below the model's vocabulary of {}",
                      path.string(), at(i), i, vocabulary));
    }
    sum.add(file_.bytes().subspan(static_cast<std::size_t>(first * width_),
                                  static_cast<std::size_t>((end - first) * width_)));
  }
  sum_ = sum.text();
}

std::int64_t TokenFile::at(std::int64_t index) const {
  switch (width_) {
    case 1: return stored<std::uint8_t>(file_.bytes(), index);
    case 2: return stored<std::uint16_t>(file_.bytes(), index);
    case 4: return stored<std::uint32_t>(file_.bytes(), index);
    default: return stored<std::int64_t>(file_.bytes(), index);
  }
}

ShuffledSamples::ShuffledSamples(const TokenFile& tokens, std::int64_t length, std::uint64_t seed,
                                 const std::filesystem::path& path)
    : length_(length), seed_(seed) {
  const std::int64_t windows = (tokens.size() - 1) / length;
  if (windows < 1) {
    fail_input(fmt::format("{}: {} tokens are fewer than one sequence of {} and its last target",
                           path.string(), tokens.size(), length));
  }
  order_.resize(static_cast<std::size_t>(windows));
}

void ShuffledSamples::shuffle(std::int64_t epoch) {
  const std::uint64_t key = hash_with_seed(seed_, static_cast<std::uint64_t>(epoch));
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = order_.size(); i > 1; --i) {
    std::swap(order_[i - 1], order_[hash_with_seed(key, i) % i]);
  }
  epoch_ = epoch;
}

std::int64_t ShuffledSamples::begin(std::int64_t number) {
  const auto windows = static_cast<std::int64_t>(order_.size());
  if (number / windows != epoch_) shuffle(number / windows);
  return order_[static_cast<std::size_t>(number % windows)] * length_;
}

}  // namespace stepwright::runtime
