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

/// Character before the name of an unknown value inside a text, in which `kUnknownValueMarkBegin
/// NAME kUnknownValueMarkEnd` stands for the value.
constexpr char kUnknownValueMarkBegin = '\x01';
constexpr char kUnknownValueMarkEnd = '\x02';

/// Largest number of items in a list, of members in a mapping, and of parts in a copied value.
constexpr std::size_t kMaxPythonContainerItems = 10'000;

/// Returns the text that stands for an unknown value: a name between two marker characters. The
/// name is the last part of the expression: "tp" for "args.tp".
std::string unknown_python_value_text(std::string_view expression);

/// Appends `part` to a text. Fails with `kInput`, naming the line, beyond 256 KiB.
void append_python_text(std::string& text, std::string_view part, std::uint32_t line);

/// A Python value during the interpretation of a program; it can be unknown.
struct PythonObject {
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kRecord, kUnknown };
  struct Body;

  Kind kind = Kind::kNone;
  bool truth = false;
  std::int64_t number = 0;
  /// Depends on `kind`. Text: its characters; non-integer number: its digits as written; unknown
  /// value: its name.
  std::string text;
  /// Contents of a list, mapping or instance, shared by all names of the same object as in Python.
  /// For an unknown value: the attributes set on it; for an unknown attribute: the contents of the
  /// object that lacks it.
  std::shared_ptr<Body> body;
  /// Origin of an unknown value, or of unknown parts of a text, for messages: the source
  /// expression, or words such as "argument tp of main".
  std::string said;
  /// Line where the value was last named; 0: in a file whose lines are not recorded.
  std::uint32_t line = 0;

  static PythonObject unknown(std::string_view name, std::uint32_t line);
  static PythonObject string(std::string_view text, std::uint32_t line);
  static PythonObject integer(std::int64_t value, std::uint32_t line);
  static PythonObject real(std::string_view digits, std::uint32_t line);
  static PythonObject boolean(bool value);
  static PythonObject list();
  static PythonObject record();

  [[nodiscard]] bool is(Kind one) const { return kind == one; }
  [[nodiscard]] bool open() const {
    return is(Kind::kUnknown) || text.find(kUnknownValueMarkBegin) != std::string::npos;
  }
};

struct PythonObject::Body {
  /// Items of a list; for an instance, the positional arguments of the call that made it.
  std::vector<PythonObject> items;
  /// Keys of a mapping or attributes of an instance, each with its value.
  std::vector<std::pair<std::string, PythonObject>> members;
  /// Name of the class whose call made the instance; `kUnknownPythonClassName` ("?") if the class
  /// is unknown.
  std::string made_by;

  PythonObject* find(std::string_view name);
  /// Sets a key of a mapping or an attribute. A value that contains this object is copied, to avoid
  /// a cycle; other values are shared. Fails with `kInput` beyond 10,000 members.
  void set(const std::string& name, const PythonObject& value);
  /// Appends an item to a list. An item that contains the list is copied, to avoid a cycle; other
  /// items are shared. Ignored beyond 10,000 items.
  void add(const PythonObject& item);

 private:
  /// Index in `members` of each attribute or key by its name, for fast look-up; empty while there
  /// are only a few members. Members are never removed.
  std::map<std::string, std::size_t, std::less<>> places_;
};

/// Class name of Python objects whose class is unknown.
constexpr std::string_view kUnknownPythonClassName = "?";

/// Returns a value in its current form: an unknown value on which attributes have been set becomes
/// a record of these attributes; any other value is returned unchanged.
PythonObject python_record_of_attributes(PythonObject value);

/// Returns a deep copy; an unknown value if it would have more than 10,000 parts.
PythonObject copy_python_value(const PythonObject& value);

/// Returns the size of a Python value: one for each part, and one more for every 64 bytes of text;
/// stops counting at about 10,000.
std::size_t python_value_size(const PythonObject& value);

/// Returns the items, or the keys of a mapping, that a Python loop over the value visits; nullopt
/// if they are unknown.
std::optional<std::vector<PythonObject>> python_loop_items(const PythonObject& value);

/// Returns the attribute `name` of a Python value; an unknown value with that name if it cannot be
/// determined.
PythonObject python_attribute(const PythonObject& value, const std::string& name,
                              std::uint32_t line);

/// Returns the result of Python's `str(value)`; an unknown value gives its name between two marker
/// characters.
std::string python_str(const PythonObject& value);

/// Returns the text under which a mapping stores a key: "(4, 1)" for a tuple; nullopt if the key is
/// unknown.
std::optional<std::string> python_mapping_key_text(const PythonObject& key);

/// Returns the result of Python's `bool(value)`; nullopt if the value is unknown.
std::optional<bool> python_truth(const PythonObject& value);

/// The arguments of a Python call, positional and by keyword.
struct PythonArguments {
  std::vector<PythonObject> unnamed;
  std::vector<std::pair<std::string, PythonObject>> named;
  std::uint32_t line = 0;

  [[nodiscard]] const PythonObject* find(std::string_view name, std::size_t place) const;
};

}  // namespace stepwright::launch_scripts
