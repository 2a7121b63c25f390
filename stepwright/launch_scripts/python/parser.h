#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// A part of an expression of Python, as a tree.
struct PythonNode {
  enum class Kind : std::uint8_t {
    kUnread,         ///< Anything that is no expression, or none that is followed.
    kConstant,       ///< None, True or False.
    kNumber,         ///< A number; `word`: its digits.
    kString,         ///< Parts: `kPiece` and `kHole`.
    kPiece,          ///< `word`: characters of one line.
    kHole,           ///< "{part:word}" of a text.
    kName,           ///< `word`: a name, with dots and more names behind it.
    kList,           ///< A list, tuple or set.
    kMapping,        ///< Parts: `kPair` and `kSpreadMapping`.
    kPair,           ///< A pair of "key: value".
    kSpread,         ///< A spread value "*part".
    kSpreadMapping,  ///< A spread mapping "**part".
    kKeyword,        ///< A keyword argument "word=part".
    kBound,          ///< A binding "word := part".
    kComprehension,  ///< An element, `kFor` and `kFilter`; of a mapping where it is a `kPair`.
    kFor,            ///< "for word in part".
    kFilter,         ///< A filter "if part".
    kBehind,         ///< A value with attributes, calls or indices behind it.
    kAttribute,      ///< An attribute ".word" behind a value.
    kArguments,      ///< A call "(parts)" behind a value.
    kIndex,          ///< An index "[part]" behind a value.
    kSlice,          ///< "[part:part]", of which each may be missing: `kConstant`.
    kNegative,       ///< A negative value "-part".
    kOperation,      ///< Operands from left to right; the sign before each is its `sign`.
    kComparison,     ///< Operands and signs of a comparison.
    kNot,            ///< A negation "not part".
    kAnd,
    kOr,
    kChoice,  ///< "a if b else c if d else e", in this order.
  };

  Kind kind = Kind::kUnread;
  std::string_view text{};  ///< As it was written.
  std::uint32_t line = 0;
  std::string word{};
  std::string_view sign{};
  std::vector<PythonNode> parts{};
};

/// Where an expression stands.
struct PythonPlace {
  std::uint32_t line;
  const std::string& file;
  int depth = 0;  ///< Depth of brackets around it.
};

/// The tree of an expression, whose nodes show its text. What cannot be read is `kUnread`, and
/// nothing but its item, argument or value is. Fails with `kInput` where brackets nest deeper than
/// 50 levels.
PythonNode parse_python(std::string_view text, const PythonPlace& place);

}  // namespace stepwright::launch_scripts
