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

/// Marks in a text around the name of an unknown value: `kHoleBegin NAME kHoleEnd`.
constexpr char kHoleBegin = '\x01';
constexpr char kHoleEnd = '\x02';

/// Most items of a list, members of a mapping, and parts of a value that is copied.
constexpr std::size_t kMostPythonItems = 10'000;

/// Returns a hole named after the last part of an expression: "tp" for "args.tp".
std::string unknown_python_value(std::string_view expression);

/// Appends `part` to a text. Fails with `kInput`, naming the line, beyond 256 KiB.
void add_python_text(std::string& text, std::string_view part, std::uint32_t line);

/// A value while a Python program is interpreted; it can be unknown.
struct PythonObject {
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kRecord, kUnknown };
  struct Body;

  Kind kind = Kind::kNone;
  bool truth = false;
  std::int64_t number = 0;
  /// Characters of a text; digits of a non-integer number as written; name of an unknown value.
  std::string text;
  /// Contents of lists, mappings and instances, shared between names as in Python. For an unknown
  /// value: the attributes set on it, or the object that lacks the attribute of this name.
  std::shared_ptr<Body> body;
  std::string said;  ///< For an unknown value: the expression as it was written.
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
    return is(Kind::kUnknown) || text.find(kHoleBegin) != std::string::npos;
  }
};

struct PythonObject::Body {
  /// Items of a list; positional arguments of a call that made an instance.
  std::vector<PythonObject> items;
  /// Keys of a mapping or attributes of an instance, each with its value.
  std::vector<std::pair<std::string, PythonObject>> members;
  /// Name of the class that made the instance, or `kUnknownPythonObject`.
  std::string made_by;

  PythonObject* find(std::string_view name);
  /// Sets a member. A value that contains this body is copied, to avoid a cycle; others are shared.
  /// Fails with `kInput` beyond 10,000 members.
  void set(const std::string& name, const PythonObject& value);
  /// Appends an item, copied or shared as in `set`; ignored beyond 10,000 items.
  void add(const PythonObject& item);

 private:
  /// Index of each name in `members`, filled once there are more than a few. Members are never
  /// removed.
  std::map<std::string, std::size_t, std::less<>> places_;
};

/// The class name of an object of unknown class.
constexpr std::string_view kUnknownPythonObject = "?";

/// Returns a value for setting an attribute on it: an unknown value becomes a record, also for all
/// other names that share it.
PythonObject python_as_set(PythonObject value);

/// Returns a deep copy; an unknown value if it would have more than 10,000 parts.
PythonObject python_copy(const PythonObject& value);

/// Returns the size of a value in parts and bytes; stops counting at about 10,000.
std::size_t python_value_size(const PythonObject& value);

/// Returns the items, or the keys of a mapping, that a loop over the value visits; nullopt:
/// unknown.
std::optional<std::vector<PythonObject>> python_items(const PythonObject& value);

/// Returns an attribute of a value; an unknown value with the attribute's name if it cannot be
/// determined.
PythonObject python_attribute(const PythonObject& value, const std::string& name,
                              std::uint32_t line);

/// Returns the result of `str()`; a hole if the value is unknown.
std::string python_str(const PythonObject& value);

/// Returns the member name of a mapping key, such as "(4, 1)" for a tuple; nullopt if the key is
/// unknown.
std::optional<std::string> python_key(const PythonObject& key);

/// Returns the result of `bool()`; nullopt if the value is unknown.
std::optional<bool> python_truth(const PythonObject& value);

/// The arguments of a call.
struct PythonArguments {
  std::vector<PythonObject> unnamed;
  std::vector<std::pair<std::string, PythonObject>> named;
  std::uint32_t line = 0;

  [[nodiscard]] const PythonObject* find(std::string_view name, std::size_t place) const;
};

}  // namespace stepwright::launch_scripts
