#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stepwright {
class InputFile;
}

namespace stepwright::logs {

/// The bytes of a file from front to back. A gzip file (also one of several members) is unpacked
/// while it is read. Memory stays at a few hundred kilobytes, however large the file is.
class ByteSource {
 public:
  /// Opens a file. Fails with `kInput` if it cannot be read.
  explicit ByteSource(const std::filesystem::path& path);
  /// Reads from bytes in memory; messages call them `name`.
  ByteSource(std::string_view bytes, std::string name);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;

  /// Reads the next bytes into `into` and returns their number, at most its size; 0 at the end.
  /// Fails with `kInput` if a packed file is damaged, cut short, or unpacks to far more than a log
  /// does.
  std::size_t read(std::span<char> into);

  /// Returns the first bytes without consuming them (`read` returns them again): up to 256 KiB, and
  /// more only if all of these are blanks. Fails with `kInput` after 16 MiB of blanks.
  [[nodiscard]] std::string_view beginning();
  /// Reads the rest of the file. Fails with `kInput` if it has more than `most` bytes.
  std::string rest(std::size_t most);

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  struct Unpacker;

  void recognise();
  std::size_t read_plain(std::span<char> into);
  std::size_t unpack(std::span<char> into);

  std::unique_ptr<InputFile> file_;  ///< The open file; null: bytes in memory.
  std::string name_;
  /// Bytes to give before those of the file: its first two bytes, or the whole source in memory.
  std::string ahead_;
  std::size_t taken_ = 0;               ///< Number of bytes of `ahead_` that were read.
  std::unique_ptr<Unpacker> unpacker_;  ///< Unpacks a gzip file; null: the file is not packed.
  std::string beginning_;  ///< Bytes that `beginning` looked at and `read` must still return.
  std::size_t given_ = 0;  ///< Number of bytes of `beginning_` that `read` has returned.
  bool looked_ = false;
};

}  // namespace stepwright::logs
