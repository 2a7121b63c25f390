#include "stepwright/logs/files/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"

namespace stepwright::logs {
namespace {

constexpr std::size_t kPackedChunk = std::size_t{256} << 10;
// Traces shrink ten to sixty times; what grows more than this is no log, and deflate ends at 1032.
constexpr std::uint64_t kMostExpansion = 300;
constexpr std::uint64_t kExpandsFreely = std::uint64_t{256} << 20;

std::unique_ptr<std::istream> opened(const std::filesystem::path& path) {
  errno = 0;
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  if (!*file || folder) {
    const int reason = folder ? EISDIR : errno;
    fail_input(fmt::format("{}: cannot be read: {}", path.string(),
                           std::generic_category().message(reason)));
  }
  return file;
}

}  // namespace

/// State of zlib and what was read but not unpacked yet.
struct ByteSource::Unpacker {
  Unpacker() : packed(kPackedChunk) {
    constexpr int kGzip = 15 + 16;  // the largest window; a gzip header
    if (inflateInit2(&state, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Unpacker() { inflateEnd(&state); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  z_stream state{};
  std::vector<char> packed;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  bool ended = false;  ///< The last member.
};

ByteSource::ByteSource(const std::filesystem::path& path)
    : ByteSource(opened(path), path.string()) {}

ByteSource::ByteSource(std::string_view bytes, std::string name)
    : ByteSource(std::make_unique<std::istringstream>(std::string(bytes)), std::move(name)) {}

ByteSource::ByteSource(std::unique_ptr<std::istream> stream, std::string name)
    : stream_(std::move(stream)), name_(std::move(name)) {
  const int first = stream_->get();
  const int second = stream_->peek();
  stream_->clear();
  stream_->seekg(0);
  if (first == 0x1f && second == 0x8b) unpacker_ = std::make_unique<Unpacker>();
}

ByteSource::~ByteSource() = default;
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;

std::size_t ByteSource::read_plain(std::span<char> into) {
  if (!*stream_) return 0;
  stream_->read(into.data(), static_cast<std::streamsize>(into.size()));
  return static_cast<std::size_t>(stream_->gcount());
}

std::size_t ByteSource::read(std::span<char> into) {
  if (given_ < beginning_.size()) {
    const std::size_t size = beginning_.copy(into.data(), into.size(), given_);
    given_ += size;
    return size;
  }
  return unpacker_ ? unpack(into) : read_plain(into);
}

std::string_view ByteSource::beginning() {
  constexpr std::size_t kLooked = std::size_t{256} << 10;
  if (!looked_) {
    looked_ = true;
    std::string bytes(kLooked, '\0');
    bytes.resize(read(bytes));
    beginning_ = std::move(bytes);
  }
  return beginning_;
}

std::string ByteSource::rest(std::size_t most) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  std::string bytes;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t size = bytes.size();
    if (size > most) fail_input(fmt::format("{}: larger than {} bytes", name_, most));
    bytes.resize(size + kChunk);
    got = read(std::span(bytes).subspan(size));
    bytes.resize(size + got);
  }
  return bytes;
}

std::size_t ByteSource::unpack(std::span<char> into) {
  Unpacker& unpacker = *unpacker_;
  z_stream& state = unpacker.state;
  state.next_out = reinterpret_cast<Bytef*>(into.data());
  state.avail_out = static_cast<uInt>(into.size());
  while (state.avail_out > 0 && !unpacker.ended) {
    if (state.avail_in == 0) {
      state.next_in = reinterpret_cast<Bytef*>(unpacker.packed.data());
      state.avail_in = static_cast<uInt>(read_plain(unpacker.packed));
      unpacker.bytes_in += state.avail_in;
      if (state.avail_in == 0) {
        fail_input(fmt::format("{}: packed data end in the middle, after {} bytes", name_,
                               unpacker.bytes_in));
      }
    }
    const int result = inflate(&state, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      const bool more = state.avail_in > 0 || stream_->peek() != EOF;
      unpacker.ended = !more || inflateReset(&state) != Z_OK;
    } else if (result != Z_OK) {
      fail_input(fmt::format("{}: packed data are damaged before byte {}: {}", name_,
                             unpacker.bytes_in - state.avail_in,
                             state.msg == nullptr ? "no gzip" : state.msg));
    }
  }
  const std::size_t got = into.size() - state.avail_out;
  unpacker.bytes_out += got;
  if (unpacker.bytes_out > kExpandsFreely &&
      unpacker.bytes_out / kMostExpansion > unpacker.bytes_in) {
    fail_input(fmt::format("{}: unpacks to more than {} times its size at byte {}; no log does",
                           name_, kMostExpansion, unpacker.bytes_in));
  }
  return got;
}

}  // namespace stepwright::logs
