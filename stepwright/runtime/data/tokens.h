#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/mapped_file.h"
#include "stepwright/core/named.h"

namespace stepwright::runtime {

/// How the tokens of a data file are stored.
enum class TokenFormat : std::uint8_t { kText, kUint16, kUint32, kMegatron };
inline constexpr Named<TokenFormat> kTokenFormatNames[] = {{TokenFormat::kText, "text"},
                                                           {TokenFormat::kUint16, "uint16"},
                                                           {TokenFormat::kUint32, "uint32"},
                                                           {TokenFormat::kMegatron, "megatron"}};

/// Returns the format that a file's name implies: `.u16` and `.u32` are raw little-endian tokens,
/// `.bin` with an `.idx` beside it is Megatron's indexed data set, anything else is text with one
/// byte for each token.
TokenFormat token_format(const std::filesystem::path& path);

/// Returns the format that `word` names in `kTokenFormatNames`; empty: the format that the file's
/// name implies. Fails with `kInput`.
TokenFormat token_format(const std::filesystem::path& path, std::string_view word);

/// A data file as one sequence of tokens.
class TokenFile {
 public:
  /// Opens and checks the file. Fails with `kInput` when it cannot be read, is truncated,
  /// contradicts its index, or has a token of `vocabulary` or above.
  TokenFile(const std::filesystem::path& path, TokenFormat format, std::int64_t vocabulary);

  /// Returns the number of tokens in the file; `at` returns the token at an index below it.
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t at(std::int64_t index) const;
  /// Returns the checksum of all bytes of the file (XXH3, as `checkpoint::checksum`).
  [[nodiscard]] const std::string& sum() const { return sum_; }

 private:
  void read_all(const std::filesystem::path& path, std::int64_t vocabulary);

  MappedFile file_;
  int width_ = 1;  ///< Bytes of a token.
  std::int64_t size_ = 0;
  std::string sum_;
};

/// Windows of `length + 1` tokens of a file in a reproducible random order, which differs in each
/// epoch.
class Samples {
 public:
  /// Fails with `kInput` when the file is shorter than one window.
  Samples(const TokenFile& tokens, std::int64_t length, std::uint64_t seed,
          const std::filesystem::path& path);
  /// Returns the index of the first token of sample `number`; samples are counted over all epochs.
  [[nodiscard]] std::int64_t begin(std::int64_t number);

 private:
  void shuffle(std::int64_t epoch);
  std::int64_t length_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;
};

}  // namespace stepwright::runtime
