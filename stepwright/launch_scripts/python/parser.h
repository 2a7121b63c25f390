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
    kConstant,       ///< The constant None, True or False.
    kNumber,         ///< A number literal; `word`: its digits.
    kString,         ///< A string literal; its parts are `kPiece` and `kHole`.
    kPiece,          ///< Literal characters of a string; `word`: the characters, all from one line.
    kHole,           ///< A replacement field "{part:word}" of an f-string.
    kName,           ///< A name; `word`: the name with its dots.
    kList,           ///< A list, tuple or set; its parts are the items.
    kMapping,        ///< A mapping; its parts are `kPair` and `kSpreadMapping`.
    kPair,           ///< A "key: value" pair of a mapping.
    kSpread,         ///< A spread item "*part" in a list or call.
    kSpreadMapping,  ///< A spread mapping "**part" in a mapping or call.
    kKeyword,        ///< A keyword argument "word=part" of a call.
    kBound,          ///< An assignment expression "word := part".
    /// A comprehension: its element, then `kFor` and `kFilter`; of a mapping if the element is a
    /// `kPair`.
    kComprehension,
    kFor,        ///< A clause "for word in part" of a comprehension.
    kFilter,     ///< A clause "if part" of a comprehension.
    kBehind,     ///< A value followed by attributes, calls or indices.
    kAttribute,  ///< An attribute ".word" after a value.
    kArguments,  ///< The arguments "(parts)" of a call, after a value.
    kIndex,      ///< An index "[part]" after a value.
    kSlice,      ///< A slice "[part:part]"; a missing bound is a `kConstant`.
    kNegative,   ///< A negated number "-part".
    /// An operation; operands from left to right, each with the operator before it in `sign`.
    kOperation,
    kComparison,  ///< A comparison; operands as in `kOperation`.
    kNot,         ///< A logical negation "not part".
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
