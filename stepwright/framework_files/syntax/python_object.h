#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright {

/// A text of a Python program of which each character knows its line, and in which holes stand for
/// what no literal says.
struct PythonString {
  std::string text;                  ///< A hole is `kHoleBegin NAME kHoleEnd`.
  std::vector<std::uint32_t> lines;  ///< Of each byte.

  PythonString() = default;
  PythonString(std::string_view said, std::uint32_t line) : text(said), lines(said.size(), line) {}
  void add(const PythonString& more);
  [[nodiscard]] PythonString part(std::size_t at, std::size_t count = std::string::npos) const;
  [[nodiscard]] bool open() const;  ///< Whether it has a hole.
};

constexpr char kHoleBegin = '\x01';
constexpr char kHoleEnd = '\x02';

/// A hole as a text; its name is that of a variable of a shell.
PythonString python_hole(std::string_view name, std::uint32_t line);

/// A value while a Python program is followed.
struct PythonObject {
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kText, kList, kRecord, kUnknown };
  struct Body;

  Kind kind = Kind::kNone;
  bool truth = false;  ///< Of an unknown: it stands for any number of words.
  std::int64_t number = 0;
  PythonString text;  ///< Of a text, of a number that is not whole; the name of an unknown.
  std::shared_ptr<Body> body;  ///< Shared as Python shares it: of lists, mappings and instances.
  std::uint32_t line = 0;

  static PythonObject unknown(std::string_view name, std::uint32_t line);
  static PythonObject string(PythonString text);
  static PythonObject string(std::string_view text, std::uint32_t line);
  static PythonObject integer(std::int64_t value, std::uint32_t line);
  static PythonObject boolean(bool value);
  static PythonObject list();
  static PythonObject record();

  [[nodiscard]] bool is(Kind one) const { return kind == one; }
};

struct PythonObject::Body {
  std::vector<PythonObject> items;
  std::vector<std::pair<std::string, PythonObject>> members;  ///< Keys, or attributes.
  std::string made_by;                                        ///< "argparse", "environ", a class.

  PythonObject* find(std::string_view name);
  void set(const std::string& name, const PythonObject& value);  ///< A copy of it.
};

/// A value of its own, of at most 10,000 parts (else unknown): what is put into a list or a mapping
/// never leads back to it.
PythonObject python_copy(const PythonObject& value);

/// How much a value holds: parts and bytes, up to about 10,000.
std::size_t python_weight(const PythonObject& value);

/// What `str()` gives; a hole where nobody knows.
PythonString python_str(const PythonObject& value);

/// What `bool()` gives; nothing where nobody knows.
std::optional<bool> python_truth(const PythonObject& value);

/// The result of an operator ("+", "-", "*", "/", "//", "%"); unknown where nobody knows.
PythonObject python_operation(std::string_view sign, const PythonObject& a, const PythonObject& b);

/// Whether "==", "!=", "<", "<=", ">", ">=", "in", "not in", "is" or "is not" holds.
std::optional<bool> python_comparison(std::string_view sign, const PythonObject& a,
                                      const PythonObject& b);

/// Words of a text as `split()` (no separator) or `shlex.split` makes them.
PythonObject python_split(const PythonString& text, std::string_view separator, bool quotes);

/// A name that a shell can have, of the last part of an expression: "tp" of "args.tp".
std::string python_hole_name(std::string_view expression);

/// What a call is given.
struct PythonArguments {
  std::vector<PythonObject> unnamed;
  std::vector<std::pair<std::string, PythonObject>> named;
  std::uint32_t line = 0;

  [[nodiscard]] const PythonObject* find(std::string_view name, std::size_t place) const;
};

/// What a method of a text, a list or a mapping gives, and does to it; nothing for others.
std::optional<PythonObject> python_object_method(PythonObject& self, std::string_view method,
                                                 const PythonArguments& given);

/// What a function of Python or its library gives: "str", "shlex.join", "os.path.join".
std::optional<PythonObject> python_library(std::string_view name, const PythonArguments& given);

}  // namespace stepwright
