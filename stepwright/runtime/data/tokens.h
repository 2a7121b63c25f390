#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/mapped_file.h"
#include "stepwright/core/named.h"

namespace stepwright::runtime {

/// How a data file stores its tokens: as text (one byte per token), as raw 16-bit or 32-bit
/// integers, or as a Megatron data set.
enum class TokenFileFormat : std::uint8_t { kText, kUint16, kUint32, kMegatron };
inline constexpr Named<TokenFileFormat> kTokenFormatNames[] = {
    {TokenFileFormat::kText, "text"},
    {TokenFileFormat::kUint16, "uint16"},
    {TokenFileFormat::kUint32, "uint32"},
    {TokenFileFormat::kMegatron, "megatron"}};

/// Returns the token format that a data file's name implies: `.u16` and `.u32` are raw
/// little-endian tokens, `.bin` with an `.idx` beside it is Megatron's indexed data set, anything
/// else is text with one byte for each token.
TokenFileFormat data_file_token_format(const std::filesystem::path& path);

/// Returns the token format that `word` names ("text", "uint16", "uint32", "megatron"); for an
/// empty word, the format that the data file's name implies. Fails with `kInput` for an unknown
/// word.
TokenFileFormat data_file_token_format(const std::filesystem::path& path, std::string_view word);

/// The tokens of a data file, read as one long sequence.
class TokenFile {
 public:
  /// Opens a file of tokens and checks it. Fails with `kInput` if it cannot be read, is truncated,
  /// contradicts its index, or has a token number of `vocabulary` or above.
  TokenFile(const std::filesystem::path& path, TokenFileFormat format, std::int64_t vocabulary);

  /// Returns the number of tokens in the data file.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Returns the token at an index of the data file, from 0.
  [[nodiscard]] std::int64_t at(std::int64_t index) const;
  /// Returns the checksum (XXH3) of all bytes of the data file.
  [[nodiscard]] const std::string& sum() const { return sum_; }

 private:
  void read_all(const std::filesystem::path& path, std::int64_t vocabulary);

  MappedFile file_;
  /// Bytes of one token in the data file.
  int width_ = 1;
  std::int64_t size_ = 0;
  std::string sum_;
};

/// Samples of a data file in a reproducible random order that differs in each epoch. A sample has
/// `length + 1` tokens: each token and its target.
class ShuffledSamples {
 public:
  /// Fails with `kInput` if the file has fewer tokens than one sample (`length + 1`).
  ShuffledSamples(const TokenFile& tokens, std::int64_t length, std::uint64_t seed,
                  const std::filesystem::path& path);
  /// Returns the index in the file of the first token of a sample. `number` counts samples over all
  /// epochs.
  [[nodiscard]] std::int64_t begin(std::int64_t number);

 private:
  void shuffle(std::int64_t epoch);
  std::int64_t length_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;
};

}  // namespace stepwright::runtime
