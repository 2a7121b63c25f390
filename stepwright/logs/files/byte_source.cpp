#include "stepwright/logs/files/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"

namespace stepwright::logs {
namespace {

constexpr std::size_t kPackedChunk = std::size_t{256} << 10;
// Traces are compressed ten to sixty times. A file that expands more than 300 times is no log
// (deflate reaches 1032 times).
constexpr std::uint64_t kMostExpansion = 300;
constexpr std::uint64_t kExpandsFreely = std::uint64_t{256} << 20;
constexpr std::size_t kLooked = std::size_t{256} << 10;
/// The most blanks with which a log may begin; they are held in memory while its format is
/// recognised.
constexpr std::size_t kMostBlanks = std::size_t{16} << 20;

/// True if a text ends and has only blanks.
bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

/// State of zlib, and packed bytes that were read but not unpacked yet.
struct FileByteReader::Unpacker {
  Unpacker() : packed(kPackedChunk) {
    constexpr int kGzip = 15 + 16;  // the largest window; a gzip header
    if (inflateInit2(&state, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Unpacker() { inflateEnd(&state); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Reads more packed bytes if all were used; at the end of the file there are none.
  void fill(FileByteReader& source) {
    state.next_in = reinterpret_cast<Bytef*>(packed.data());
    state.avail_in = static_cast<uInt>(source.read_plain(packed));
    bytes_in += state.avail_in;
  }

  z_stream state{};
  std::vector<char> packed;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  bool ended = false;  ///< True after the last member of the gzip file.
};

FileByteReader::FileByteReader(const std::filesystem::path& path)
    : file_(std::make_unique<InputFileReader>(path)), name_(path.string()), ahead_(2, '\0') {
  ahead_.resize(file_->read_file_bytes(ahead_));
  recognise();
}

FileByteReader::FileByteReader(std::string_view bytes, std::string name)
    : name_(std::move(name)), ahead_(bytes) {
  recognise();
}

void FileByteReader::recognise() {
  if (ahead_.starts_with("\x1f\x8b")) unpacker_ = std::make_unique<Unpacker>();
}

FileByteReader::~FileByteReader() = default;
FileByteReader::FileByteReader(FileByteReader&&) noexcept = default;
FileByteReader& FileByteReader::operator=(FileByteReader&&) noexcept = default;

std::size_t FileByteReader::read_plain(std::span<char> into) {
  const std::size_t held = ahead_.copy(into.data(), into.size(), taken_);
  taken_ += held;
  return held + (file_ ? file_->read_file_bytes(into.subspan(held)) : 0);
}

std::size_t FileByteReader::read_source_bytes(std::span<char> into) {
  if (given_ < beginning_.size()) {
    const std::size_t size = beginning_.copy(into.data(), into.size(), given_);
    given_ += size;
    return size;
  }
  return unpacker_ ? unpack(into) : read_plain(into);
}

std::string_view FileByteReader::peek_first_bytes() {
  if (looked_) return beginning_;
  looked_ = true;
  std::string bytes;
  for (bool blank = true; blank;) {
    const std::size_t size = bytes.size();
    if (size > kMostBlanks) {
      fail_input(
          fmt::format("{}: begins with more than {} MiB of blanks", name_, kMostBlanks >> 20U));
    }
    bytes.resize(size + kLooked);
    const std::size_t got = read_source_bytes(std::span(bytes).subspan(size));
    bytes.resize(size + got);
    blank = got > 0 && is_blank(std::string_view(bytes).substr(size));
  }
  beginning_ = std::move(bytes);
  return beginning_;
}

std::string FileByteReader::read_rest_of_source(std::size_t most) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  std::string bytes;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t size = bytes.size();
    if (size > most) fail_input(fmt::format("{}: larger than {} bytes", name_, most));
    bytes.resize(size + kChunk);
    got = read_source_bytes(std::span(bytes).subspan(size));
    bytes.resize(size + got);
  }
  return bytes;
}

std::size_t FileByteReader::unpack(std::span<char> into) {
  Unpacker& unpacker = *unpacker_;
  z_stream& state = unpacker.state;
  state.next_out = reinterpret_cast<Bytef*>(into.data());
  state.avail_out = static_cast<uInt>(into.size());
  while (state.avail_out > 0 && !unpacker.ended) {
    if (state.avail_in == 0) {
      unpacker.fill(*this);
      if (state.avail_in == 0) {
        fail_input(fmt::format("{}: packed data end in the middle, after {} bytes", name_,
                               unpacker.bytes_in));
      }
    }
    const int result = inflate(&state, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      if (state.avail_in == 0) unpacker.fill(*this);
      unpacker.ended = state.avail_in == 0 || inflateReset(&state) != Z_OK;
    } else if (result != Z_OK) {
      fail_input(
          fmt::format("{}: the gzip data are damaged before byte {}: only a whole copy of "
                      "the file can be unpacked",
                      name_, unpacker.bytes_in - state.avail_in));
    }
  }
  const std::size_t got = into.size() - state.avail_out;
  unpacker.bytes_out += got;
  if (unpacker.bytes_out > kExpandsFreely &&
      unpacker.bytes_out / kMostExpansion > unpacker.bytes_in) {
    fail_input(
        fmt::format("{}: unpacks to more than {} times its size at byte {}, which no log does",
                    name_, kMostExpansion, unpacker.bytes_in));
  }
  return got;
}

}  // namespace stepwright::logs
