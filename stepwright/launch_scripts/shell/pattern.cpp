#include "stepwright/launch_scripts/shell/pattern.h"

#include <algorithm>
#include <vector>

namespace stepwright::launch_scripts {
namespace {

/// One position of a pattern: the characters that match there.
struct PatternPlace {
  enum class Kind : unsigned char { kOne, kAny, kMany, kSet } kind = Kind::kOne;
  char c = '\0';
  std::string_view set;  ///< Characters between the brackets of a kSet.

  [[nodiscard]] bool takes(char other) const {
    if (kind == Kind::kAny) return true;
    if (kind == Kind::kOne) return c == other;
    std::string_view rest = set;
    const bool turned = rest.starts_with('!') || rest.starts_with('^');
    if (turned) rest.remove_prefix(1);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const bool range = i + 2 < rest.size() && rest[i + 1] == '-';
      if (range ? rest[i] <= other && other <= rest[i + 2] : rest[i] == other) return !turned;
      if (range) i += 2;
    }
    return turned;
  }
};

std::vector<PatternPlace> places_of(std::string_view pattern) {
  std::vector<PatternPlace> places;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const std::size_t close = c == '[' ? pattern.find(']', i + 2) : std::string_view::npos;
    if (c == '*') {
      places.push_back({.kind = PatternPlace::Kind::kMany});
    } else if (c == '?') {
      places.push_back({.kind = PatternPlace::Kind::kAny});
    } else if (close != std::string_view::npos) {
      places.push_back(
          {.kind = PatternPlace::Kind::kSet, .set = pattern.substr(i + 1, close - i - 1)});
      i = close;
    } else {
      if (c == '\\' && i + 1 < pattern.size()) ++i;
      places.push_back({.c = pattern[i]});
    }
  }
  return places;
}

/// Matches a text against a pattern. Backtracks only to the last `*`, which is sufficient.
bool matches(std::string_view text, const std::vector<PatternPlace>& places) {
  std::size_t at = 0;
  std::size_t place = 0;
  std::size_t star = places.size();
  std::size_t back = 0;
  while (at < text.size()) {
    if (place < places.size() && places[place].kind == PatternPlace::Kind::kMany) {
      star = place++;
      back = at;
    } else if (place < places.size() && places[place].takes(text[at])) {
      ++place;
      ++at;
    } else if (star < places.size()) {
      place = star + 1;
      at = ++back;
    } else {
      return false;
    }
  }
  while (place < places.size() && places[place].kind == PatternPlace::Kind::kMany) ++place;
  return place == places.size();
}

/// Returns the patterns that `@(a|b)` expands to; a pattern without it, unchanged.
std::vector<std::string> alternatives(std::string_view pattern) {
  const std::size_t open = pattern.find("@(");
  const std::size_t close = pattern.find(')', std::min(open, pattern.size()));
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return {std::string(pattern)};
  }
  std::vector<std::string> all;
  const std::string_view inner = pattern.substr(open + 2, close - open - 2);
  for (std::size_t begin = 0; begin <= inner.size();) {
    const std::size_t end = std::min(inner.find('|', begin), inner.size());
    all.push_back(std::string(pattern.substr(0, open)) +
                  std::string(inner.substr(begin, end - begin)) +
                  std::string(pattern.substr(close + 1)));
    begin = end + 1;
  }
  return all;
}

/// Largest product of text length and pattern length for which a match is tried.
constexpr std::size_t kMostCompared = 50'000;

}  // namespace

bool matches_shell_pattern(std::string_view text, std::string_view pattern) {
  return std::ranges::any_of(alternatives(pattern), [&](const std::string& one) {
    return text.size() * one.size() <= kMostCompared && matches(text, places_of(one));
  });
}

std::string escape_shell_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[]\\@").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string remove_shell_pattern_match(std::string_view text, std::string_view pattern,
                                       PatternEnd end, bool longest) {
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const std::size_t length = longest ? text.size() - i : i;
    const bool front = end == PatternEnd::kFront;
    const std::string_view part =
        front ? text.substr(0, length) : text.substr(text.size() - length);
    if (!matches_shell_pattern(part, pattern)) continue;
    return std::string(front ? text.substr(length) : text.substr(0, text.size() - length));
  }
  return std::string(text);
}

std::string replace_shell_pattern_matches(std::string_view text, std::string_view pattern,
                                          std::string_view by, bool all) {
  std::string result;
  bool done = pattern.empty();
  // A pattern without `*` matches at most as many characters as it has.
  const bool open_end = pattern.find('*') != std::string_view::npos;
  const std::size_t longest = open_end ? text.size() : pattern.size();
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = done ? 0 : std::min(longest, text.size() - at);
    while (length > 0 && !matches_shell_pattern(text.substr(at, length), pattern)) --length;
    if (length == 0) {
      result += text[at++];
      continue;
    }
    result += by;
    at += length;
    done = !all;
  }
  return result;
}

}  // namespace stepwright::launch_scripts
