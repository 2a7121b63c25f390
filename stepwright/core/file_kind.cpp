#include "stepwright/core/file_kind.h"

#include <fmt/format.h>

#include <cstddef>

#include "stepwright/core/quoting.h"

namespace stepwright {
namespace {

using std::string_view_literals::operator""sv;

/// A kind of file, recognised by fixed bytes at an offset, and how to turn such a file into text.
struct FileKind {
  std::size_t offset;
  std::string_view bytes;
  std::string_view kind;
  /// Advice in which "{}" is replaced by the file's path; empty: none.
  std::string_view advice = {};
};

constexpr std::string_view kUtf16 = "convert it (iconv -f UTF-16 -t UTF-8 {} > FILE)";
constexpr std::string_view kUtf32 = "convert it (iconv -f UTF-32 -t UTF-8 {} > FILE)";
constexpr std::string_view kPickle = "a pickle of Python";
constexpr std::string_view kOfPickle =
    "opening it runs code, so it is not read: write its content as YAML or JSON";

// UTF-32's byte order marks begin like those of UTF-16, so they must be compared first.
constexpr FileKind kFileKinds[] = {
    {0, "\x1F\x8B"sv, "a gzip file", "unpack it first (gunzip < {} > FILE)"},
    {0, "\x28\xB5\x2F\xFD"sv, "a zstd file", "unpack it first (unzstd < {} > FILE)"},
    {0, "\xFD\x37zXZ\0"sv, "an xz file", "unpack it first (unxz < {} > FILE)"},
    {0, "\x04\x22\x4D\x18"sv, "an lz4 file", "unpack it first (unlz4 < {} > FILE)"},
    {4, "1AY&SY"sv, "a bzip2 file", "unpack it first (bunzip2 < {} > FILE)"},
    {0, "PK\x03\x04"sv, "a zip archive (so are .pt, .npz, .xlsx)", "unpack it first (unzip {})"},
    {0, "7z\xBC\xAF\x27\x1C"sv, "a 7z archive", "unpack it first (7z x {})"},
    {257, "ustar\0"sv, "a tar archive", "unpack it first (tar -xf {})"},
    {257, "ustar "sv, "a tar archive", "unpack it first (tar -xf {})"},
    {0, "\xFF\xFE\0\0"sv, "UTF-32", kUtf32},
    {0, "\0\0\xFE\xFF"sv, "UTF-32", kUtf32},
    {0, "\xFF\xFE"sv, "UTF-16", kUtf16},
    {0, "\xFE\xFF"sv, "UTF-16", kUtf16},
    {0, "%PDF-"sv, "a PDF"},
    {0, "\x89PNG"sv, "a picture"},
    {0, "\xFF\xD8\xFF"sv, "a picture"},
    {0, "GIF89a"sv, "a picture"},
    {0, "\x7F\x45LF"sv, "a program"},
    {0, "MZ\x90\0"sv, "a program"},
    {0, "\x80\x02"sv, kPickle, kOfPickle},
    {0, "\x80\x03"sv, kPickle, kOfPickle},
    {0, "\x80\x04"sv, kPickle, kOfPickle},
    {0, "\x80\x05"sv, kPickle, kOfPickle},
    {0, "(dp0\n"sv, kPickle, kOfPickle},
    {0, "(lp0\n"sv, kPickle, kOfPickle},
    {0, "ccopy_reg\n"sv, kPickle, kOfPickle},
    {0, "}q\0"sv, kPickle, kOfPickle},
    {0, "]q\0"sv, kPickle, kOfPickle},
    {4, "\0\0\0\0{\""sv, "a safetensors file"},
    {0, "GGUF\x03\0"sv, "a GGUF file"},
    {0, "PAR1\x15"sv, "a Parquet file"},
    {0, "ARROW1\0"sv, "an Arrow file"},
    {0, "SQLite format 3\0"sv, "a SQLite database"},
    {0, "\x89HDF"sv, "an HDF5 file"},
    {0, "\x93NUMPY"sv, "an array of NumPy"}};

/// An encoding in which ASCII characters take `width` bytes each, only one of which is not 0.
struct WideText {
  std::string_view kind;
  std::size_t width;
  std::size_t place;  ///< Index of the byte that is not 0.
};
constexpr WideText kWideTexts[] = {
    {"UTF-32LE", 4, 0}, {"UTF-32BE", 4, 3}, {"UTF-16LE", 2, 0}, {"UTF-16BE", 2, 1}};

/// True if a text begins with ASCII characters in that encoding, without a byte order mark.
bool begins_as(std::string_view start, const WideText& wide) {
  constexpr std::size_t kCharacters = 4;
  if (start.size() < kCharacters * wide.width) return false;
  for (std::size_t at = 0; at < kCharacters * wide.width; ++at) {
    const auto byte = static_cast<unsigned char>(start[at]);
    const bool ascii = byte == '\n' || byte == '\r' || byte == '\t' || (byte >= ' ' && byte < 0x7F);
    if (at % wide.width == wide.place ? !ascii : byte != 0) return false;
  }
  return true;
}

}  // namespace

std::string non_text_file_kind(std::string_view start, std::string_view name) {
  for (const FileKind& known : kFileKinds) {
    if (start.size() < known.offset || !start.substr(known.offset).starts_with(known.bytes)) {
      continue;
    }
    if (known.advice.empty()) return fmt::format("is {}, not text", known.kind);
    return fmt::format("is {}: {}", known.kind,
                       fmt::format(fmt::runtime(known.advice), quoted_for_shell(name)));
  }
  for (const WideText& wide : kWideTexts) {
    if (!begins_as(start, wide)) continue;
    return fmt::format("is {0}: convert it (iconv -f {0} -t UTF-8 {1} > FILE)", wide.kind,
                       quoted_for_shell(name));
  }
  return {};
}

}  // namespace stepwright
