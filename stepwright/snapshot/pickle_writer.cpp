#include "stepwright/snapshot/pickle_writer.h"

#include <utility>

namespace stepwright::snapshot {
namespace {

constexpr std::size_t kWrittenChunk = std::size_t{256} << 10;

}  // namespace

PickleWriter::PickleWriter(Sink sink) : sink_(std::move(sink)) { put("\x80\x02"); }

void PickleWriter::text(std::string_view text) {
  const auto [found, fresh] = texts_.emplace(text, names_);
  if (!fresh) return write_memoized_pickle_value(found->second);
  put("X");
  put_little(text.size(), 4);
  put(text);
  memoize_pickle_value();
}

void PickleWriter::integer(std::int64_t value) {
  if (value >= 0 && value <= UINT8_MAX) {
    put("K");
    return put_little(static_cast<std::uint64_t>(value), 1);
  }
  if (value >= INT32_MIN && value <= INT32_MAX) {
    put("J");
    return put_little(static_cast<std::uint64_t>(value), 4);
  }
  put("\x8a\x08");
  put_little(static_cast<std::uint64_t>(value), 8);
}

std::uint32_t PickleWriter::memoize_pickle_value() {
  put("r");
  put_little(names_, 4);
  return names_++;
}

void PickleWriter::write_memoized_pickle_value(std::uint32_t name) {
  put("j");
  put_little(name, 4);
}

void PickleWriter::end() {
  put(".");
  sink_(buffer_);
  buffer_.clear();
}

void PickleWriter::put(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() < kWrittenChunk) return;
  sink_(buffer_);
  buffer_.clear();
}

void PickleWriter::put_little(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  put(bytes);
}

}  // namespace stepwright::snapshot
