#include "stepwright/core/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace stepwright {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

TEST(FileKind, APackedFileSaysHowToUnpackIt) {
  EXPECT_EQ(non_text_file_kind("\x1F\x8B\x08\0"sv, "a plan.gz"),
            "is a gzip file: unpack it first (gunzip < 'a plan.gz' > FILE)");
  EXPECT_EQ(non_text_file_kind("PK\x03\x04...", "run.zip"),
            "is a zip archive (so are .pt, .npz, .xlsx): unpack it first (unzip run.zip)");
  EXPECT_EQ(non_text_file_kind(std::string(257, '\0') + "ustar\0 "s, "run.tar"),
            "is a tar archive: unpack it first (tar -xf run.tar)");
  EXPECT_EQ(non_text_file_kind("\x28\xB5\x2F\xFD...", "log.zst"),
            "is a zstd file: unpack it first (unzstd < log.zst > FILE)");
  EXPECT_EQ(non_text_file_kind("\xFD\x37zXZ\0\0"sv, "x").substr(0, 10), "is an xz f");
}

TEST(FileKind, MarksOfUtf32AreNotThoseOfUtf16) {
  for (const std::string_view start : {"\xFF\xFE\0\0a\0\0\0"sv, "\0\0\xFE\xFF\0\0\0a"sv}) {
    EXPECT_EQ(non_text_file_kind(start, "job.yaml"),
              "is UTF-32: convert it (iconv -f UTF-32 -t UTF-8 job.yaml > FILE)");
  }
  for (const std::string_view start : {"\xFF\xFE{\0"sv, "\xFE\xFF\0{"sv}) {
    EXPECT_EQ(non_text_file_kind(start, "job.yaml"),
              "is UTF-16: convert it (iconv -f UTF-16 -t UTF-8 job.yaml > FILE)");
  }
}

TEST(FileKind, WideTextIsKnownWithoutAMark) {
  EXPECT_EQ(non_text_file_kind("j\0o\0b\0:\0"sv, "job.yaml"),
            "is UTF-16LE: convert it (iconv -f UTF-16LE -t UTF-8 job.yaml > FILE)");
  EXPECT_THAT(non_text_file_kind("\0{\0\n\0\"\0a"sv, "a"), ::testing::StartsWith("is UTF-16BE: "));
  EXPECT_THAT(non_text_file_kind("j\0\0\0o\0\0\0b\0\0\0:\0\0\0"sv, "a"),
              ::testing::StartsWith("is UTF-32LE: "));
  EXPECT_THAT(non_text_file_kind("\0\0\0j\0\0\0o\0\0\0b\0\0\0:"sv, "a"),
              ::testing::StartsWith("is UTF-32BE: "));
  for (const std::string_view other :
       {"\1\0\2\0\3\0\4\0"sv, "j\0o\0b"sv, "jo\0b\0:\0\0"sv, "\0\0\0\0\0\0\0\0"sv}) {
    EXPECT_EQ(non_text_file_kind(other, "a"), "");
  }
}

TEST(FileKind, WhatHoldsNoTextIsCalledWhatItIs) {
  EXPECT_EQ(non_text_file_kind("\x7F\x45LF\x02", "a"), "is a program, not text");
  EXPECT_EQ(non_text_file_kind("%PDF-1.7", "a"), "is a PDF, not text");
  EXPECT_EQ(non_text_file_kind("\x89PNG\r\n", "a"), "is a picture, not text");
  for (const std::string_view start : {"\x80\x04\x95"sv, "(dp0\nV"sv, "}q\0(X"sv}) {
    EXPECT_EQ(non_text_file_kind(start, "a"),
              "is a pickle of Python: opening it runs code, so it is not read: write its content "
              "as YAML or JSON");
  }
  EXPECT_EQ(non_text_file_kind("\x58\x02\0\0\0\0\0\0{\"a\""sv, "a"),
            "is a safetensors file, not text");
  EXPECT_EQ(non_text_file_kind("SQLite format 3\0"sv, "a"), "is a SQLite database, not text");
}

TEST(FileKind, TextIsOfNoOtherKind) {
  for (const std::string_view text : {"", "a: 1\n", "{\"a\": 1}",
                                      "\xEF\xBB\xBF"
                                      "a",
                                      "PK", "PAR1 is"}) {
    EXPECT_EQ(non_text_file_kind(text, "a"), "") << text;
  }
}

}  // namespace
}  // namespace stepwright
