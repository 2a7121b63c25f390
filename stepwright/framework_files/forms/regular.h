#pragma once

#include <optional>
#include <string_view>

namespace stepwright::framework_files {

/// Whether a regular expression of Python matches all of a text (`re.fullmatch`): literals, `.`,
/// classes, groups, alternatives, `*`, `+`, `?`, `{2,3}`, `^`, `$`. Nothing where it has something
/// else (lookahead, references), is none, or asks for more steps than a million; the text has at
/// most 255 bytes. Time is bounded, whatever the expression.
std::optional<bool> matches_whole(std::string_view expression, std::string_view text);

/// Whether a text has a character that is special in such expressions, other than a point.
bool is_expression(std::string_view text);

}  // namespace stepwright::framework_files
