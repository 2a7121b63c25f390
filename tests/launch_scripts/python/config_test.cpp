#include "stepwright/launch_scripts/python/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"

namespace stepwright::launch_scripts {
namespace {

PythonConfig config_of(std::string_view text, const std::string& function = "") {
  const PythonFileText texts[] = {{text, "registry.py"}};
  return read_python_config(texts, {.root = "Config", .known = {}}, function);
}

std::string config_value(const PythonConfig& config, std::string_view path) {
  const YamlJsonDocument document = YamlJsonDocument::from_tree(config.tree, "registry.py");
  DocumentNode node = document.root();
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto below = node.find(path.substr(0, dot));
    if (!below || below->is_null()) return "nothing";
    node = *below;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node.is_scalar() ? node.text() : "more";
}

bool has_unread(const PythonConfig& config, std::string_view name) {
  return std::ranges::find(config.unread, name, &UnknownPythonValue::name) != config.unread.end();
}

/// A text whose only function that makes a configuration is at its end.
constexpr const char* kOnly = "def only() -> Config:\n    return Config(size=7)\n";

constexpr const char* kRegistry = R"(
"""A registry: Config( in a docstring."""
from somewhere import Config  # Config(size=0)

SEQ = 4 * 1024


def small() -> Config:
    return Config(
        model=Model("small", depth=2),
        training=Training(steps=10, length=SEQ),
        spec=registry("8B"),
    )


def large() -> Config:
    config = small()
    config.model.depth = 8
    training = config.training
    training.steps = compute_steps()
    training.length = 2 * SEQ
    config.parts = [["a"] + ["b"] * 2] * 2
    if config.model.depth:
        config.deep = True
    else:
        config.deep = False
    if unknown_thing:
        config.deep = "maybe"
    return config


def changed() -> Config:
    return dataclasses.replace(large(), deep=False)
)";

TEST(PythonConfig, NamesTheFunctionsThatMakeConfigurations) {
  try {
    config_of(kRegistry);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "registry.py: has 3 functions that make a Config: --function picks one of small, "
              "large, changed");
  }
  EXPECT_THROW(config_of(kRegistry, "other"), Error);
}

TEST(PythonConfig, FollowsAssignmentsAndCalls) {
  const PythonConfig config = config_of(kRegistry, "large");
  EXPECT_EQ(config_value(config, "model.depth"), "8");
  EXPECT_EQ(config_value(config, "training.length"), "8192");
  EXPECT_EQ(config_value(config, "training.steps"), "nothing");
  EXPECT_EQ(config_value(config, "deep"), "true");
  EXPECT_TRUE(has_unread(config, "training.steps"));
  EXPECT_TRUE(has_unread(config, "spec"));
  EXPECT_TRUE(has_unread(config, "config.deep"));
  const YamlJsonDocument document = YamlJsonDocument::from_tree(config.tree, "registry.py");
  ASSERT_EQ(document.root().get("parts").size(), 2U);
  EXPECT_EQ(document.root().get("parts").at(1).size(), 3U);
  EXPECT_EQ(document.root().get("training").get("length").source_line(), 21U);
}

TEST(PythonConfig, FieldsOfDataclassesHaveDefaults) {
  const PythonConfig config = config_of(R"(from dataclasses import dataclass, field
@dataclass
class Parts(Config):
    size: int = field(default=3, metadata={"help": "of it"})
    names: list = field(default_factory=lambda: ["a", "b"])
    none: list = field(default_factory=list)
    made: list = field(default_factory=lambda x: x)
def only() -> Config:
    return Parts()
)");
  EXPECT_EQ(config_value(config, "size"), "3");
  EXPECT_EQ(config_value(config, "names"), "more");
  EXPECT_EQ(config_value(config, "none"), "more");
  EXPECT_TRUE(has_unread(config, "made"));
}

TEST(PythonConfig, ReplacesInACopy) {
  const PythonConfig config = config_of(kRegistry, "changed");
  EXPECT_EQ(config_value(config, "deep"), "false");
  EXPECT_EQ(config_value(config, "model.depth"), "8");
}

TEST(PythonConfig, KeepsWhatAnotherNameHeld) {
  const PythonConfig config = config_of(
      "def f() -> Config:\n"
      "    a = Config(x=1)\n"
      "    b = a\n"
      "    b.x = 2\n"
      "    a = Config(x=3)\n"
      "    return Config(first=a, second=b)\n");
  EXPECT_EQ(config_value(config, "first.x"), "3");
  EXPECT_EQ(config_value(config, "second.x"), "2");
}

TEST(PythonConfig, ObjectsAreTheSameUnderEachName) {
  const PythonConfig config = config_of(R"(
def fill(part, size):
    part.size = size
    part.more.deep = True
def f() -> Config:
    model = Model(size=1)
    config = Config(model=model)
    model.size = 2
    optimizer = config.optimizer
    optimizer.lr = 1e-4
    config.optimizer.name = "adam"
    other = somewhere()
    config.other = other
    fill(part=other, size=3)
    return config
)");
  EXPECT_EQ(config_value(config, "model.size"), "2");
  EXPECT_EQ(config_value(config, "optimizer.lr"), "1e-4");
  EXPECT_EQ(config_value(config, "optimizer.name"), "adam");
  EXPECT_EQ(config_value(config, "other.size"), "3");
  EXPECT_EQ(config_value(config, "other.more.deep"), "true");
  ASSERT_EQ(config.unread.size(), 1U);
  EXPECT_EQ(config.unread[0].name, "part");
  EXPECT_EQ(config.unread[0].expression, "somewhere()");
}

TEST(PythonConfig, FollowsWhatKnownValuesGive) {
  const PythonConfig config = config_of(R"(
@dataclass
class Parts:
    depth: int = 2  # of each
    width: int = 4
def f(
    # the tensor's
    tp: int = 2,  # ranks
    pp: int = tp_of(),
) -> Config:
    config = Config(name=f"tp{tp}", open=f"pp{pp}", parts=Parts(width=-tp * 3))
    config.list = [(a, b) for a in range(2) for b in "xy".split("x") if b]
    config.open_list = [a for a in unknown if a]
    config.either = pp or 4
    config.rate = .5 if 1.5 > 1 and "b" in {"a", "b"} else 2
    config.many = 2 ** 10 - 1
    return config
)");
  EXPECT_EQ(config_value(config, "name"), "tp2");
  EXPECT_EQ(config_value(config, "parts.depth"), "2");
  EXPECT_EQ(config_value(config, "parts.width"), "-6");
  EXPECT_EQ(config_value(config, "rate"), ".5");
  EXPECT_EQ(config_value(config, "many"), "1023");
  EXPECT_EQ(config.tree.find("list")->items.size(), 2U);
  for (const char* open : {"open", "open_list", "either"}) {
    EXPECT_EQ(config_value(config, open), "nothing") << open;
    EXPECT_TRUE(has_unread(config, open)) << open;
  }
}

TEST(PythonConfig, BindsArguments) {
  const PythonConfig config = config_of(
      "def base(size: int, *, tp: int = 1, **rest) -> Config:\n"
      "    return Config(size=size, tp=tp, **rest)\n"
      "def _hidden() -> Config:\n"
      "    return Config()\n"
      "def recipe(**user):\n"
      "    options = {'tp': 4, 'pp': 2}\n"
      "    return base(7, **{**options, **user})\n",
      "recipe");
  EXPECT_EQ(config_value(config, "size"), "7");
  EXPECT_EQ(config_value(config, "tp"), "4");
  EXPECT_EQ(config_value(config, "pp"), "2");
}

TEST(PythonConfig, ArgumentsThatAFunctionDoesNotTakeAreNotPassedOver) {
  constexpr const char* kText = R"(
def small(depth=1) -> Config:
    return Config(model=Model("small", depth=depth))

def anything(**rest) -> Config:
    return Config(model=Model("small", depth=rest["depth"]))

def wrong() -> Config:
    return small(depth=2, precision=narrow())

def right() -> Config:
    return anything(depth=2, precision=narrow())
)";
  EXPECT_EQ(config_value(config_of(kText, "right"), "model.depth"), "2");
  try {
    config_of(kText, "wrong");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("small, which takes no argument precision"),
              std::string::npos)
        << error.what();
  }
}

TEST(PythonConfig, ForgetsWhatItCannotFollow) {
  const PythonConfig config = config_of(
      "def f() -> Config:\n"
      "    c = Config(a=1, b=2, d=3)\n"
      "    c.a += g()\n"
      "    c.b, x = g()\n"
      "    change(c)\n"
      "    for i in g(): c.d = i\n"
      "    return c\n");
  EXPECT_EQ(config_value(config, "a"), "nothing");
  EXPECT_EQ(config_value(config, "b"), "nothing");
  EXPECT_TRUE(has_unread(config, "a"));
  EXPECT_TRUE(has_unread(config, "change"));
  EXPECT_GE(config.unread.size(), 4U);
}

TEST(PythonConfig, DecidesWhetherKnownValuesAreTheSame) {
  const std::string text = R"(
def make(kind="muon", size=4) -> Config:
    c = Config(a=0, b=0, d=0)
    if kind == "adam":
        c.a = 1
    elif kind != "sgd":
        c.a = 2
    if size == 4:
        c.b = 1
    if unknown() == 4:
        c.d = 1
    return c
)";
  const PythonConfig config = config_of(text);
  EXPECT_EQ(config_value(config, "a"), "2");
  EXPECT_EQ(config_value(config, "b"), "1");
  EXPECT_EQ(config_value(config, "d"), "0");
  EXPECT_TRUE(has_unread(config, "c.d"));
}

TEST(PythonConfig, FollowsLoopsAndSumsOfKnownValues) {
  const PythonConfig config = config_of(R"(
def f(kinds=("a", "b")) -> Config:
    c = Config(sum=1, texts=["x"], last=0, class_=0, other=0)
    for i in range(1, 9):
        if i == 2:
            continue
        if i == 5:
            break
        c.sum += i
        c.last = i
    c.texts += ["y"]
    if isinstance(kinds, (list, str)):
        c.class_ = 1
    if isinstance(c.last, bool):
        c.other = 1
    return c
)");
  EXPECT_EQ(config_value(config, "sum"), "9");
  EXPECT_EQ(config_value(config, "last"), "4");
  EXPECT_EQ(config_value(config, "class_"), "1");
  EXPECT_EQ(config_value(config, "other"), "0");
  EXPECT_TRUE(config.unread.empty());
}

TEST(PythonConfig, EndsOnHostileTexts) {
  EXPECT_THROW(config_of("def f() -> Config:\n    return f()\n"), Error);
  EXPECT_THROW(config_of("def f() -> Config:\n    return Config(a=" + std::string(100'000, '(')),
               Error);
  EXPECT_THROW(config_of("def f() -> Config:\n    return 3\n"), Error);
  std::string doubling = "def f() -> Config:\n    x = [1]\n";
  for (int i = 0; i < 200; ++i) doubling += "    x = [x, x]\n";
  EXPECT_THROW(config_of(doubling + "    return Config(x=x)\n"), Error);
  std::string chain = "def f0() -> Config:\n    return Config()\n";
  for (int i = 1; i < 40; ++i) {
    chain += fmt::format("def f{}():\n    return [f{}(), f{}()]\n", i, i - 1, i - 1);
  }
  EXPECT_THROW(config_of(chain, "f39"), Error);
  std::string many = "def f() -> Config:\n    c = Config()\n";
  for (int i = 0; i < 20'000; ++i) many += fmt::format("    c.a{} = {}\n", i, i);
  EXPECT_THROW(config_of(many + "    return c\n"), Error);
  std::string path = "def f() -> Config:\n    c = Config()\n    c";
  for (int i = 0; i < 100'000; ++i) path += ".a";
  EXPECT_NO_THROW(config_of(path + " = 1\n    return c\n"));
}

TEST(PythonConfig, RefusesWhatGrowsOrNestsTooMuch) {
  std::string blocks;
  for (int i = 0; i < 200; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "if 1:\n";
  const std::string nested[] = {
      "x = " + std::string(5000, '[') + std::string(5000, ']') + "\n",
      blocks + std::string(200, ' ') + "x = 1\n",
      "x = 'aaaaaaaa'\nfor i in range(100):\n    x = x + x\n",
      "x = 'aaaaaaaa'\nfor i in range(100):\n    x = f'{x}{x}'\n",
      "x = 'aaaaaaaa'\nfor i in range(100):\n    x = ','.join([x, x])\n",
      "for i in range(999):\n  for j in range(999):\n    for k in range(999):\n      x = i\n"};
  for (const std::string& text : nested) EXPECT_THROW(config_of(text + kOnly), Error) << text;
}

TEST(PythonConfig, DamagedStatementsEnd) {
  for (const char* text :
       {"x = ['a']\nfor i in range(1000):\n    x = x + x\n    x.append(x)\n    x[0] = x\n",
        "def g():\n    g()\n    g()\ng()\n",
        "x = []\nfor i in range(999):\n  for j in range(99):\n    x = [x]\n", "x = {a: b for}\n",
        "f'{'\n", "x = 'a' % (\n", "def :\n", "class\n", "if\n", "for in :\n  x\n", "x[\n",
        "a = b = = c\n", "return\n", "*\n", "x = f'{{{x!r:>{w}}}}'\n", "lambda: (\n",
        "x = 1 if else 2\n", "x = '%s %d %' % (1, 2)\n", "x = 'a b'.split(' ')[7]\n"}) {
    try {
      EXPECT_EQ(config_value(config_of(std::string(text) + kOnly), "size"), "7") << text;
    } catch (const Error& error) {
      EXPECT_NE(*error.what(), '\0') << text;
    }
  }
}

TEST(PythonConfig, TextsAreFormattedJoinedAndSplit) {
  const PythonConfig config = config_of(R"(
def f() -> Config:
    names = "a, b ,c".split(",")
    return Config(
        format="%s-%d%%" % ("x", 3),
        join="-".join([name.strip() for name in names]),
        words="|".join("  a  b\tc ".split()),
        replaced="a-b-c".replace("-", "--"),
        sum="a" + "b",
        ends="model.nemo".endswith(".nemo"),
        hole="-".join(["a", unknown]),
    )
)");
  EXPECT_EQ(config_value(config, "format"), "x-3%");
  EXPECT_EQ(config_value(config, "join"), "a-b-c");
  EXPECT_EQ(config_value(config, "words"), "a|b|c");
  EXPECT_EQ(config_value(config, "replaced"), "a--b--c");
  EXPECT_EQ(config_value(config, "sum"), "ab");
  EXPECT_EQ(config_value(config, "ends"), "true");
  EXPECT_TRUE(has_unread(config, "hole"));
}

TEST(PythonConfig, DecidesWhatKnownValuesDecide) {
  const PythonConfig config = config_of(R"(
def one(kind="Fast", size=4) -> Config:
    config = Config()
    config.lower = kind.lower()
    config.name = "a" if kind.lower().startswith("fa") and size > 2 else "b"
    config.both = "a" if unknown() and size < 2 else "b"
    config.either = bool(size >= 4 or unknown())
    config.open = "a" if unknown() or size < 2 else "b"
    config.parts = Parts(big=bool(size > 4), small=size <= 4)
    if size != 4 or kind == "Slow":
        config.wrong = True
    return config
)");
  EXPECT_EQ(config_value(config, "lower"), "fast");
  EXPECT_EQ(config_value(config, "name"), "a");
  EXPECT_EQ(config_value(config, "both"), "b");
  EXPECT_EQ(config_value(config, "either"), "true");
  EXPECT_EQ(config_value(config, "open"), "nothing");
  EXPECT_EQ(config_value(config, "parts.big"), "false");
  EXPECT_EQ(config_value(config, "parts.small"), "true");
  EXPECT_EQ(config_value(config, "wrong"), "nothing");
  EXPECT_TRUE(has_unread(config, "open"));
  EXPECT_FALSE(has_unread(config, "wrong"));
}

TEST(PythonConfig, ImportedNamesAreThoseOfOtherTexts) {
  constexpr std::string_view kFirst = R"(
from .base import (
    SIZE as DEPTH,  # of the model
    base_config as config_of,
)
from . import sizes
import torch.nn as nn


def one() -> Config:
    config = config_of()
    config.depth = DEPTH
    config.width = sizes.WIDTH
    config.row = sizes.TABLE.row
    config.kind = nn.SIZE2
    config.other = COUNT
    return config
)";
  constexpr std::string_view kOther = R"(
SIZE = 4
COUNT = 5
WIDTH = 2 * SIZE
TABLE = Table(row=9)


def config_of():
    return Config(own=False)


def base_config():
    return Config(own=True)
)";
  const PythonFileText texts[] = {{kFirst, "first.py"}, {kOther, "base.py"}};
  const PythonConfig config = read_python_config(texts, {.root = "Config", .known = {}}, "");
  EXPECT_EQ(config_value(config, "own"), "true");
  EXPECT_EQ(config_value(config, "depth"), "4");
  EXPECT_EQ(config_value(config, "width"), "8");
  EXPECT_EQ(config_value(config, "row"), "9");
  EXPECT_EQ(config_value(config, "kind"), "nn.SIZE2");
  EXPECT_EQ(config_value(config, "other"), "nothing");
}

TEST(PythonConfig, ModulesHandOnWhatTheyImportUnderOtherNames) {
  constexpr std::string_view kFirst =
      "from b import small_config\ndef f() -> Config:\n    c = small_config()\n    c.b = 2\n"
      "    return c\n";
  const PythonFileText texts[] = {
      {kFirst, "a.py"},
      {"from c import tiny_config as small_config\n", "b.py"},
      {"def tiny_config() -> Config:\n    return Config(a=1)\n", "c.py"}};
  const PythonConfig config = read_python_config(texts, {.root = "Config"}, "f");
  EXPECT_EQ(config_value(config, "a"), "1");
  EXPECT_EQ(config_value(config, "b"), "2");
}

// The form of NVIDIA-NeMo/Megatron-Bridge recipes/deepseek/h100/deepseek_v3.py.
TEST(PythonConfig, TuplesAreKeysOfMappings) {
  const PythonConfig config = config_of(R"(
def layout(pp, vp):
    known = {(1, 1): None, (4, 2): ["a", "b"], (8, 1): ["c"]}
    vp = 1 if vp is None else vp
    if (pp, vp) not in known:
        raise ValueError("unknown")
    return known[(pp, vp)]


def one() -> Config:
    config = Config()
    config.a = layout(8, None)[0]
    config.b = layout(4, 2)[1]
    if (2, 2) in {(1, 1): 3} or 5 in {6: 1}:
        config.a = "never"
    config.c = {(1, 1): 3, 4: "d"}.get((1, 1))
    config.d = {(1, 1): 3, 4: "d"}[4]
    if (1, 2) in {(1, unknown()): 3}:
        config.e = 1
    return config
)");
  EXPECT_EQ(config_value(config, "a"), "c");
  EXPECT_EQ(config_value(config, "b"), "b");
  EXPECT_EQ(config_value(config, "c"), "3");
  EXPECT_EQ(config_value(config, "d"), "d");
  EXPECT_FALSE(config.unread.empty());
}

TEST(PythonConfig, LongChainsOfChoicesEnd) {
  std::string text = "def one() -> Config:\n    config = Config()\n    config.a = ";
  for (int i = 0; i < 5000; ++i) text += "1 if unknown(x) or ";
  const PythonConfig config = config_of(text + "2 else 3\n    return config\n");
  EXPECT_EQ(config_value(config, "a"), "nothing");
  std::string nested = "unknown";
  for (int i = 0; i < 20; ++i) nested = "bool(" + nested + " == 1)";
  const PythonConfig deep = config_of("x = Config(a=" + nested + ")\n");
  EXPECT_EQ(config_value(deep, "a"), "nothing");
}

}  // namespace
}  // namespace stepwright::launch_scripts
