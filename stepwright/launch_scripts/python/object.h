#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright::launch_scripts {

/// Marks around a value in a text that no literal says: `kHoleBegin NAME kHoleEnd`.
constexpr char kHoleBegin = '\x01';
constexpr char kHoleEnd = '\x02';

/// Items of a list, members of a mapping, and parts of a value that is copied, at most.
constexpr std::size_t kMostPythonItems = 10'000;

/// Returns a hole with the name of the last part of an expression: "tp" of "args.tp".
std::string python_hole(std::string_view expression);

/// Adds a part to a text. Fails with `kInput` beyond 256 KiB, naming the line.
void add_python_text(std::string& text, std::string_view part, std::uint32_t line);

/// A value while Python is followed.
struct PythonObject {
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kRecord, kUnknown };
  struct Body;

  Kind kind = Kind::kNone;
  bool truth = false;
  std::int64_t number = 0;
  /// Content of a text; a number that is not whole, as written; an unknown's name.
  std::string text;
  /// Shared as Python shares it: of lists, mappings and instances. Of an unknown what is set in it,
  /// or the record that has no such attribute yet.
  std::shared_ptr<Body> body;
  std::string said;        ///< Expression of an open value, as it was written.
  std::uint32_t line = 0;  ///< Where it was last named; 0: in a file whose lines do not count.

  static PythonObject unknown(std::string_view name, std::uint32_t line);
  static PythonObject string(std::string_view text, std::uint32_t line);
  static PythonObject integer(std::int64_t value, std::uint32_t line);
  static PythonObject real(std::string_view digits, std::uint32_t line);
  static PythonObject boolean(bool value);
  static PythonObject list();
  static PythonObject record();

  [[nodiscard]] bool is(Kind one) const { return kind == one; }
  [[nodiscard]] bool open() const {
    return is(Kind::kUnknown) || text.find(kHoleBegin) != std::string::npos;
  }
};

struct PythonObject::Body {
  /// Items of a list; arguments without names that a call gives a class.
  std::vector<PythonObject> items;
  std::vector<std::pair<std::string, PythonObject>> members;  ///< Keys of a mapping, or attributes.
  /// Class that made it, or `kOpenObject`.
  std::string made_by;

  PythonObject* find(std::string_view name);
  /// Shares a value that does not lead back here, or copies it. Fails with `kInput` beyond 10,000
  /// members.
  void set(const std::string& name, const PythonObject& value);
  void add(const PythonObject& item);  ///< Alike; nothing beyond 10,000 items.

 private:
  /// Index in `members` of each name, filled once there are many. Members are never removed.
  std::map<std::string, std::size_t, std::less<>> places_;
};

/// Maker of an object that nobody knows.
constexpr std::string_view kOpenObject = "?";

/// An unknown becomes a record as soon as an attribute is set in it, under any of its names.
PythonObject python_as_set(PythonObject value);

/// A value of its own, of at most 10,000 parts (else unknown).
PythonObject python_copy(const PythonObject& value);

/// How much a value holds: parts and bytes, up to about 10,000.
std::size_t python_weight(const PythonObject& value);

/// Items, or keys of a mapping, that a loop over a value goes through; nullopt where nobody knows.
std::optional<std::vector<PythonObject>> python_items(const PythonObject& value);

/// An attribute of a value; an unknown, of its name, where nobody knows.
PythonObject python_attribute(const PythonObject& value, const std::string& name,
                              std::uint32_t line);

/// Result of `str()`; a hole where nobody knows.
std::string python_str(const PythonObject& value);

/// The name under which a mapping has a key, "(4, 1)" of a tuple; nothing of what is open.
std::optional<std::string> python_key(const PythonObject& key);

/// Result of `bool()`; nullopt where nobody knows.
std::optional<bool> python_truth(const PythonObject& value);

/// Arguments that a call is given.
struct PythonArguments {
  std::vector<PythonObject> unnamed;
  std::vector<std::pair<std::string, PythonObject>> named;
  std::uint32_t line = 0;

  [[nodiscard]] const PythonObject* find(std::string_view name, std::size_t place) const;
};

}  // namespace stepwright::launch_scripts
