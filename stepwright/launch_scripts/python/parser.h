#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// A node in the syntax tree of a Python expression.
struct PythonNode {
  enum class Kind : std::uint8_t {
    kUnread,    ///< A part of a Python expression that cannot be parsed, or is not interpreted.
    kConstant,  ///< The Python constant None, True or False.
    kNumber,    ///< A number literal; `word`: its digits.
    kString,    ///< A string literal; its parts are `kPiece` and `kHole`.
    /// Literal characters between the replacement fields of a Python string; `word`: the
    /// characters, all from one line.
    kPiece,
    /// A replacement field "{part:word}" of a Python f-string: an expression and its format.
    kHole,
    kName,           ///< A name; `word`: the name with its dots.
    kList,           ///< A list, tuple or set; its parts are the items.
    kMapping,        ///< A Python dict display "{...}"; its parts are `kPair` and `kSpreadMapping`.
    kPair,           ///< A "key: value" pair of a mapping.
    kSpread,         ///< A spread item "*part" in a list or call.
    kSpreadMapping,  ///< A spread mapping "**part" in a mapping or call.
    kKeyword,        ///< A keyword argument "word=part" of a call.
    kBound,          ///< An assignment expression "word := part".
    /// A Python comprehension: its element, then its clauses `kFor` and `kFilter`; of a mapping if
    /// the element is a `kPair`.
    kComprehension,
    kFor,     ///< A clause "for word in part" of a Python comprehension.
    kFilter,  ///< A clause "if part" of a Python comprehension.
    /// A value followed by attributes, calls or indices, as in "a.b(c)[d]"; its parts are in this
    /// order.
    kBehind,
    kAttribute,  ///< An attribute ".word" after a value.
    kArguments,  ///< The arguments "(parts)" of a call, after a value.
    kIndex,      ///< An index "[part]" after a value.
    kSlice,      ///< A slice "[part:part]"; a missing bound is a `kConstant`.
    kNegative,   ///< A negated number "-part".
    /// Operations "a + b * c" of a Python expression; the parts are the operands from left to
    /// right, each with the operator before it in `sign`.
    kOperation,
    /// A Python comparison "a < b < c"; the parts are the operands from left to right, each with
    /// the operator before it in `sign`.
    kComparison,
    kNot,  ///< A logical negation "not part".
    kAnd,
    kOr,
    /// A conditional expression "a if b else c if d else e"; its parts are in this order.
    kChoice,
  };

  Kind kind = Kind::kUnread;
  std::string_view text{};  ///< Text of the syntax node, as the program has it.
  std::uint32_t line = 0;
  std::string word{};
  std::string_view sign{};
  std::vector<PythonNode> parts{};
};

/// The position of a Python expression in a file, for error messages.
struct PythonPosition {
  std::uint32_t line;
  const std::string& file;
  int depth = 0;  ///< Number of brackets around the expression.
};

/// Parses a Python expression; the nodes refer to `text`. An item, argument or value that cannot be
/// parsed becomes a node `kUnread`, and the rest is parsed all the same. Fails with `kInput` if
/// brackets nest deeper than 50 levels.
PythonNode parse_python_expression(std::string_view text, const PythonPosition& place);

}  // namespace stepwright::launch_scripts
