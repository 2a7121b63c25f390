// Files made to mislead a reader: each is refused with its position, in bounded memory.
#include <gmock/gmock.h>
#include <zlib.h>

#include "stepwright/core/error.h"
#include "stepwright/logs/files/json_scanner.h"
#include "stepwright/logs/files/line_reader.h"
#include "stepwright/logs/files/pickle.h"
#include "tests/logs/fixtures.h"

namespace stepwright::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Action>
std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no refusal";
}

std::string json_of_pickle(std::string_view bytes) {
  FileByteReader source(bytes, "dump");
  return pickle_to_json(source);
}

std::string pickle_refusal(const std::string& bytes) {
  return refusal_of([&] { json_of_pickle(bytes); });
}

TEST(Pickle, IsReadAsJson) {
  // {'a': [1, -2, 2.5, None, True], 'b': ('x', 300, 70000)} in protocol 2.
  constexpr char kPickled[] =
      "\x80\x02}(X\x01\x00\x00\x00"
      "a](K\x01J\xfe\xff\xff\xffG@\x04\x00\x00\x00\x00\x00\x00N\x88"
      "eX\x01\x00\x00\x00"
      "b(X\x01\x00\x00\x00xM,\x01J\x70\x11\x01\x00tu.";
  const std::string bytes(kPickled, sizeof kPickled - 1);
  EXPECT_EQ(json_of_pickle(bytes), R"({"a":[1,-2,2.5,null,true],"b":["x",300,70000]})");
}

TEST(Pickle, IsNeverExecuted) {
  EXPECT_THAT(pickle_refusal("\x80\x02"
                             "cos\nsystem\nX\x02\x00\x00\x00ls\x85R."),
              HasSubstr("dump: byte 3: opcode 0x63"));
}

TEST(Pickle, RefusesAValueThatHoldsItself) {
  EXPECT_THAT(pickle_refusal("\x80\x02]q\x01h\x01"
                             "a."),
              HasSubstr("holds itself"));
}

TEST(Pickle, RefusesValuesThatDoubleForEver) {
  std::string bytes = "\x80\x02]q";
  bytes += '\0';
  for (char i = 0; i < 60; ++i) {  // each list holds the one before twice
    bytes += "0](h";
    bytes += i;
    bytes += 'h';
    bytes += i;
    bytes += "eq";
    bytes += static_cast<char>(i + 1);
  }
  EXPECT_THAT(pickle_refusal(bytes + "."), HasSubstr("values that grow"));
}

TEST(Pickle, SaysWhereItEndsTooEarly) {
  EXPECT_THAT(pickle_refusal("\x80\x02X\xff\xff\xff\x7f"
                             "abc"),
              HasSubstr("byte 3: the pickle ends in the middle of a value"));
  EXPECT_THAT(pickle_refusal("\x80\x02]"), HasSubstr("ends in the middle"));
}

std::string packed(const std::string& text, int members = 1) {
  std::string bytes(compressBound(text.size()) + 64, '\0');
  z_stream state{};
  deflateInit2(&state, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(bytes.data());
  state.avail_out = static_cast<uInt>(bytes.size());
  deflate(&state, Z_FINISH);
  const std::string packed_bytes = bytes.substr(0, state.total_out);
  deflateEnd(&state);
  std::string all;
  for (int i = 0; i < members; ++i) all += packed_bytes;
  return all;
}

TEST(FileByteReader, UnpacksAllMembers) {
  FileByteReader source(packed("abc", 3), "a.gz");
  EXPECT_EQ(source.peek_first_bytes(), "abcabcabc");
  EXPECT_EQ(source.read_rest_of_source(100), "abcabcabc");
}

TEST(FileByteReader, RefusesPackedDataThatAreCutOrDamaged) {
  std::string bytes = packed(std::string(1000, 'a') + "bcd");
  EXPECT_THAT(
      refusal_of([&] { FileByteReader(bytes.substr(0, 20), "a.gz").read_rest_of_source(9999); }),
      HasSubstr("a.gz: packed data end in the middle"));
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 0x55);
  EXPECT_THAT(refusal_of([&] { FileByteReader(bytes, "a.gz").read_rest_of_source(9999); }),
              HasSubstr("damaged"));
}

TEST(FileByteReader, RefusesABomb) {
  const std::string member = packed(std::string(std::size_t{16} << 20, ' '));
  std::string bomb;
  for (int i = 0; i < 20; ++i) bomb += member;
  EXPECT_THAT(refusal_of([&] { log_of(bomb, "a.json.gz"); }), HasSubstr("a.json.gz: "));
  EXPECT_THAT(refusal_of([&] {
                FileByteReader source(bomb, "a.gz");
                std::vector<char> chunk(std::size_t{1} << 20);
                while (source.read_source_bytes(chunk) > 0) {
                }
              }),
              HasSubstr("unpacks to more than 300 times its size"));
}

std::vector<std::string> scanned(std::string_view text) {
  FileByteReader source(text, "a.json");
  constexpr std::string_view kLists[] = {"list"};
  std::vector<std::string> pieces;
  stream_json_pieces(source, kLists, [&](const JsonPiece& piece) {
    pieces.push_back(std::string(piece.key) + "=" + std::string(piece.text));
  });
  return pieces;
}

TEST(JsonScanner, HandsOutMembersAndElements) {
  EXPECT_THAT(scanned(R"( {"a": {"b": "}\\\""}, "list": [1, {"c": [2]}, "x"], "d": -1.5e3} )"),
              ElementsAre(R"(a={"b": "}\\\""})", "list=1", R"(list={"c": [2]})", R"(list="x")",
                          "d=-1.5e3"));
  EXPECT_THAT(scanned("[{}, {}\n]"), ElementsAre("={}", "={}"));
}

TEST(JsonScanner, SaysWhereADocumentIsDamaged) {
  const auto refused = [](std::string_view text) { return refusal_of([&] { scanned(text); }); };
  EXPECT_THAT(refused(R"({"list": [{"a": 1}, {"b)"), HasSubstr("a.json: byte 24: the file ends"));
  EXPECT_THAT(refused(R"({"list": [1 2]})"), HasSubstr("byte 13: a comma is missing"));
  EXPECT_THAT(refused(R"({"a": 1} x)"), HasSubstr("byte 10: text after the end"));
  EXPECT_THAT(refused("{\"a\": " + std::string(200, '[')), HasSubstr("deeper than 100 levels"));
}

TEST(LineReader, CutsLinesThatNeverEnd) {
  const std::string text = "a\r\n" + std::string(5 * LineReader::kLongest, 'b') + "\nc";
  FileByteReader source(text, "a.log");
  LineReader lines(source);
  std::vector<std::size_t> sizes;
  for (std::string_view line; lines.read_next_line(line);) sizes.push_back(line.size());
  EXPECT_THAT(sizes, ElementsAre(1U, LineReader::kLongest, 1U));
}

TEST(Recognition, RefusesWhatIsNoLog) {
  for (const std::string_view text :
       {"", "\n \n", "hello\n", "{\"a\": 1}", "[1, 2]", "\xff\xfe{"}) {
    EXPECT_THROW(log_of(text), Error) << text;
  }
}

}  // namespace
}  // namespace stepwright::logs
