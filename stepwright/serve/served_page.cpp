#include "stepwright/serve/served_page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <utility>

#include "stepwright/core/error.h"

namespace stepwright::serve {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, with gzip's frame (zlib.h)
constexpr int kMemoryLevel = 8;

std::string packed_text(const std::string& text) {
  z_stream stream{};
  if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw Error(ErrorKind::kRuntime, "zlib cannot compress");
  }
  std::string packed(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

}  // namespace

ServedPage::ServedPage(std::string page)
    : text(std::move(page)),
      packed(packed_text(text)),
      tag(fmt::format("\"{:08x}-{:x}\"",
                      ::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()),
                      text.size())) {}

std::string_view favicon() {
  return R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0072b2" d="M1 11h4v4H1zM6 6h4v9H6z"/><path fill="#d55e00" d="M11 1h4v14h-4z"/></svg>)";
}

}  // namespace stepwright::serve
