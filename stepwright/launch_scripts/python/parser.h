#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// A node in the syntax tree of a Python expression.
struct PythonNode {
  enum class Kind : std::uint8_t {
    kUnread,         ///< Text that is not an expression, or not one that is interpreted.
    kConstant,       ///< None, True or False.
    kNumber,         ///< A number; `word`: its digits.
    kString,         ///< A string literal; its parts are `kPiece` and `kHole`.
    kPiece,          ///< Literal characters of a string; `word`: the characters, all from one line.
    kHole,           ///< A replacement field "{part:word}" of an f-string.
    kName,           ///< A name; `word`: the name with its dots.
    kList,           ///< A list, tuple or set.
    kMapping,        ///< A mapping; its parts are `kPair` and `kSpreadMapping`.
    kPair,           ///< A pair of "key: value".
    kSpread,         ///< A spread value "*part".
    kSpreadMapping,  ///< A spread mapping "**part" in a mapping or call.
    kKeyword,        ///< A keyword argument "word=part".
    kBound,          ///< A binding "word := part".
    /// A comprehension: its element, then `kFor` and `kFilter`; of a mapping if the element is a
    /// `kPair`.
    kComprehension,
    kFor,        ///< "for word in part".
    kFilter,     ///< A filter "if part".
    kBehind,     ///< A value followed by attributes, calls or indices.
    kAttribute,  ///< An attribute ".word" behind a value.
    kArguments,  ///< A call "(parts)" behind a value.
    kIndex,      ///< An index "[part]" behind a value.
    kSlice,      ///< A slice "[part:part]"; a missing bound is a `kConstant`.
    kNegative,   ///< A negative value "-part".
    /// An operation; operands from left to right, each with the operator before it in `sign`.
    kOperation,
    kComparison,  ///< A comparison; operands as in `kOperation`.
    kNot,         ///< A negation "not part".
    kAnd,
    kOr,
    /// A conditional expression "a if b else c if d else e"; its parts are in this order.
    kChoice,
  };

  Kind kind = Kind::kUnread;
  std::string_view text{};  ///< Text of the node, as written.
  std::uint32_t line = 0;
  std::string word{};
  std::string_view sign{};
  std::vector<PythonNode> parts{};
};

/// The position of an expression in a file.
struct PythonPlace {
  std::uint32_t line;
  const std::string& file;
  int depth = 0;  ///< Number of brackets around the expression.
};

/// Parses an expression; the nodes refer to `text`. A part that cannot be parsed becomes `kUnread`,
/// which is limited to one item, argument or value. Fails with `kInput` if brackets nest deeper
/// than 50 levels.
PythonNode parse_python(std::string_view text, const PythonPlace& place);

}  // namespace stepwright::launch_scripts
