#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stepwright {
class InputFileReader;
}

namespace stepwright::logs {

/// Reads the bytes of a file from front to back. A gzip file (also one of several members) is
/// unpacked while it is read. Uses a few hundred kilobytes of memory, however large the file is.
class FileByteReader {
 public:
  /// Opens a file. Fails with `kInput` if it cannot be read.
  explicit FileByteReader(const std::filesystem::path& path);
  /// Reads from bytes in memory instead of a file. `name`: name of the source in error messages.
  FileByteReader(std::string_view bytes, std::string name);
  ~FileByteReader();
  FileByteReader(FileByteReader&&) noexcept;
  FileByteReader& operator=(FileByteReader&&) noexcept;

  /// Reads the next bytes of the (unpacked) source into `into` and returns their number, at most
  /// the size of `into`; 0 at the end. Fails with `kInput` if a packed file is damaged, cut short,
  /// or unpacks to far more than a log does.
  std::size_t read_source_bytes(std::span<char> into);

  /// Returns the first bytes of the source without consuming them (`read_source_bytes` returns them
  /// again): up to 256 KiB, and more only if all of these are blanks. Fails with `kInput` after 16
  /// MiB of blanks.
  [[nodiscard]] std::string_view peek_first_bytes();
  /// Reads the rest of the source. Fails with `kInput` if it has more than `most` bytes.
  std::string read_rest_of_source(std::size_t most);

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  struct Unpacker;

  void recognise();
  std::size_t read_plain(std::span<char> into);
  std::size_t unpack(std::span<char> into);

  std::unique_ptr<InputFileReader> file_;  ///< The open file; null: the source is in memory.
  std::string name_;
  /// Bytes to return before those of the file: its first two bytes (read to recognise gzip), or the
  /// whole source if it is in memory.
  std::string ahead_;
  /// Number of bytes of `ahead_` that reads have already returned.
  std::size_t taken_ = 0;
  std::unique_ptr<Unpacker> unpacker_;  ///< Unpacks a gzip file; null: the file is not packed.
  std::string beginning_;  ///< Bytes that `peek_first_bytes` returned and that must still be read.
  /// Number of bytes of `beginning_` that reads have already returned.
  std::size_t given_ = 0;
  bool looked_ = false;
};

}  // namespace stepwright::logs
