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

/// Bytes of a file from front to back, unpacked on the way when it is gzip (also of several
/// members). Holds no more than a few hundred kilobytes, however large the file is.
class ByteSource {
 public:
  /// Fails with `kInput` when the file cannot be read.
  explicit ByteSource(const std::filesystem::path& path);
  /// Bytes in memory; `name` stands for the file in messages.
  ByteSource(std::string_view bytes, std::string name);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;

  /// The next bytes, at most as many as asked for; 0 at the end. Fails with `kInput`
  /// when a packed file is damaged, cut short, or unpacks to far more than a log does.
  std::size_t read(std::span<char> into);

  /// The first bytes, which `read` still gives: up to 256 KiB, and more only where these are
  /// blanks. Fails with `kInput` behind 16 MiB of blanks.
  [[nodiscard]] std::string_view beginning();
  /// All bytes that are left. Fails with `kInput` when they are more than `most`.
  std::string rest(std::size_t most);

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  struct Unpacker;

  void recognise();
  std::size_t read_plain(std::span<char> into);
  std::size_t unpack(std::span<char> into);

  std::unique_ptr<InputFile> file_;  ///< Null: bytes in memory.
  std::string name_;
  std::string ahead_;      ///< Bytes before those of the file: its first two, or all in memory.
  std::size_t taken_ = 0;  ///< Bytes of `ahead_` that were read.
  std::unique_ptr<Unpacker> unpacker_;  ///< Unpacks a packed file; else null.
  std::string beginning_;               ///< Bytes looked at before they were read.
  std::size_t given_ = 0;               ///< Bytes of `beginning_` that were read.
  bool looked_ = false;
};

}  // namespace stepwright::logs
