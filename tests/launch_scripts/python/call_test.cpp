#include "stepwright/launch_scripts/python/call.h"

#include <gtest/gtest.h>

#include "stepwright/core/error.h"

namespace stepwright::launch_scripts {
namespace {

constexpr const char* kFile = R"(# Config(this=1) is a comment
from somewhere import Config

def recipe():
    return Config(
        size=8,  # a comment
        rate=1_000.5,
        name="it's", other='b',
        flag=True, nothing=None,
        inner=Inner("first", depth=-2),
        items=[1, 2, [3]],
        table={"a": 1},
    )
)";

TEST(PythonCall, ReadsLiteralsAndNestedCalls) {
  const YamlJsonDocument document = read_python_call(kFile, "Config", "recipe.py");
  const DocumentNode root = document.root();
  EXPECT_EQ(root.get("size").integer(), 8);
  EXPECT_EQ(root.get("rate").number(), 1000.5);
  EXPECT_EQ(root.get("name").text(), "it's");
  EXPECT_TRUE(root.get("flag").boolean());
  EXPECT_TRUE(root.get("nothing").is_null());
  EXPECT_EQ(root.get("inner").get("()").text(), "Inner");
  EXPECT_EQ(root.get("inner").get("[]").at(0).text(), "first");
  EXPECT_EQ(root.get("inner").get("depth").integer(), -2);
  EXPECT_EQ(root.get("items").at(2).at(0).integer(), 3);
  EXPECT_EQ(root.get("table").get("a").integer(), 1);
  EXPECT_EQ(root.get("size").file_position_text(), "recipe.py:6:1: size");
}

TEST(PythonCall, RefusesWhatIsNoLiteral) {
  for (const char* text : {"Config(a=1 + b)", "Config(a=size)", "Config(a=[x for x in y])",
                           "Config(a=f(b)[0])", "Config(a=make())", "Config(a=\"open", "Config(a=1",
                           "Other(a=1)", "Config(a=1, a=2)", "Config(a={1: })"}) {
    EXPECT_THROW(read_python_call(text, "Config", "recipe.py"), Error) << text;
  }
}

TEST(PythonCall, RefusesDeepNesting) {
  const std::string text = "Config(a=" + std::string(100'000, '[');
  EXPECT_THROW(read_python_call(text, "Config", "recipe.py"), Error);
}

}  // namespace
}  // namespace stepwright::launch_scripts
