#pragma once

#include <optional>
#include <string_view>

namespace stepwright::framework_files {

/// True if a Python regular expression matches the whole text (`re.fullmatch`): literals, `.`,
/// classes, groups, alternatives, `*`, `+`, `?`, `{2,3}`, `^`, `$`. nullopt if the expression has
/// anything else (lookahead, references), is malformed, or needs more than a million steps. The
/// text has at most 255 bytes, so that time is bounded for every expression.
std::optional<bool> matches_whole(std::string_view expression, std::string_view text);

/// True if a text has a character other than a point that is special in regular expressions.
bool is_expression(std::string_view text);

}  // namespace stepwright::framework_files
