#include "stepwright/core/quoting.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright {
namespace {

/// Returns the text that a YAML file has as the value of a key.
std::string read_yaml_back(const std::string& literal) {
  const YamlJsonDocument document = YamlJsonDocument::parse("key: " + literal + "\n", "text.yaml");
  return document.root().get("key").text();
}

TEST(Quoting, LeavesPlainWordsOfAShell) {
  EXPECT_EQ(quoted_for_shell("--lr=3e-4"), "--lr=3e-4");
  EXPECT_EQ(quoted_for_shell(""), "''");
  EXPECT_EQ(quoted_for_shell("~/x"), "'~/x'");
  EXPECT_EQ(quoted_for_shell("it's $(x)"), "'it'\\''s $(x)'");
  EXPECT_EQ(in_shell_quotes("1"), "'1'");
}

TEST(Quoting, KeepsLinesOfAShellWord) { EXPECT_EQ(quoted_for_shell("a\nb"), "'a\nb'"); }

TEST(Quoting, EscapesControlCharactersOfAShellWord) {
  EXPECT_EQ(quoted_for_shell("\x1b[2J1"), "$'\\033[2J1'");
  EXPECT_EQ(quoted_for_shell("it's\n\xff\\"), "$'it\\'s\\n\\377\\\\'");
  EXPECT_EQ(quoted_for_shell("\xe2\x80\xae"), "$'\\342\\200\\256'");
}

TEST(Quoting, MakesNoAssignmentOfACommand) {
  EXPECT_EQ(quoted_for_shell(std::vector<std::string>{"A=1", "B=2", "c d"}), "'A=1' B=2 'c d'");
}

TEST(Quoting, WritesLiteralsThatEveryReaderTakesForTheText) {
  const std::string text = "a\"b\\c\n\t\x1b\x7f\u0085\u2028\u202e\ufffe\u20ac#: {{$x}}";
  EXPECT_EQ(quoted_for_toml(text),
            "\"a\\\"b\\\\c\\n\\t\\u001b\\u007f\\u0085\\u2028\\u202e\\ufffe\u20ac#: {{$x}}\"");
  EXPECT_EQ(nlohmann::json::parse(quoted_for_toml(text)).get<std::string>(), text);
  EXPECT_EQ(quoted_for_python(text),
            "\"a\\\"b\\\\c\\n\\t\\x1b\\x7f\\x85\\u2028\\u202e\\ufffe\u20ac#: {{$x}}\"");
  EXPECT_EQ(quoted_for_yaml(text), quoted_for_python(text));
  EXPECT_EQ(read_yaml_back(quoted_for_yaml(text)), text);
}

TEST(Quoting, ReplacesMalformedBytes) {
  EXPECT_EQ(quoted_for_toml("a\xff\xe2\x80"), "\"a\ufffd\ufffd\ufffd\"");
}

TEST(Quoting, LeavesPlainScalarsOfYaml) {
  EXPECT_EQ(quoted_for_yaml("llama-3-8b"), "llama-3-8b");
  EXPECT_EQ(quoted_for_yaml("a: b"), "\"a: b\"");
  EXPECT_EQ(quoted_for_yaml("5"), "\"5\"");
}

TEST(Quoting, KeepsACommentOnItsLine) {
  EXPECT_EQ(as_comment_line(""), "#");
  EXPECT_EQ(as_comment_line("a\nrm -rf\r\u2028b"), "# a\\x0arm -rf\\x0d\\u2028b");
}

}  // namespace
}  // namespace stepwright
