#include "stepwright/framework_files/forms/regular.h"

#include <bitset>
#include <cctype>
#include <cstddef>
#include <cstdint>

namespace stepwright::framework_files {
namespace {

constexpr std::size_t kLongest = 255;
/// Positions between the characters of a text; a set bit means that a match can reach the position.
using Places = std::bitset<kLongest + 1>;
using Class = std::bitset<256>;

/// Thrown inside this file if an expression is malformed or uses unsupported syntax.
struct NotRead {};

void add_range(Class& set, unsigned char first, unsigned char last) {
  for (unsigned one = first; one <= last; ++one) set.set(one);
}

/// Returns the class `\d`, `\w` or `\s`, or its complement for a capital; any other character means
/// itself.
Class escaped_class(char letter) {
  Class set;
  const auto small = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (small == 'd' || small == 'w') add_range(set, '0', '9');
  if (small == 'w') {
    add_range(set, 'a', 'z');
    add_range(set, 'A', 'Z');
    set.set('_');
  }
  if (small == 's') add_range(set, '\t', '\r'), set.set(' ');
  if (set.any()) return small == letter ? set : ~set;
  if (std::isalnum(static_cast<unsigned char>(letter)) != 0) throw NotRead();
  return set.set(static_cast<unsigned char>(letter));
}

/// Matches an expression by following all alternatives at once: each part maps the positions where
/// it can begin to those where it can end.
class Matcher {
 public:
  Matcher(std::string_view expression, std::string_view text)
      : expression_(expression), text_(text) {}

  bool whole() {
    std::size_t at = 0;
    const Places ends = alternatives(at, Places().set(0));
    if (at != expression_.size()) throw NotRead();
    return ends.test(text_.size());
  }

 private:
  [[nodiscard]] bool has(std::size_t at, char letter) const {
    return at < expression_.size() && expression_[at] == letter;
  }

  Places alternatives(std::size_t& at, const Places& from) {
    constexpr int kMostGroups = 16;
    if (++depth_ > kMostGroups) throw NotRead();
    Places ends = sequence(at, from);
    while (has(at, '|')) ends |= sequence(++at, from);
    --depth_;
    return ends;
  }

  Places sequence(std::size_t& at, Places from) {
    while (at < expression_.size() && expression_[at] != '|' && expression_[at] != ')') {
      from = repeated(at, from);
    }
    return from;
  }

  struct Times {
    std::size_t least = 1;
    std::size_t most = 1;
  };

  std::size_t number(std::size_t& at, std::size_t otherwise) const {
    if (at >= expression_.size() || std::isdigit(static_cast<unsigned char>(expression_[at])) == 0)
      return otherwise;
    std::size_t value = 0;
    for (;
         at < expression_.size() && std::isdigit(static_cast<unsigned char>(expression_[at])) != 0;
         ++at) {
      value = value * 10 + static_cast<std::size_t>(expression_[at] - '0');
      if (value > kLongest) throw NotRead();
    }
    return value;
  }

  /// Reads how often a part repeats. Greedy or lazy repetition gives the same result for whole
  /// matches.
  Times times(std::size_t& at) const {
    Times found;
    if (has(at, '*')) {
      found = {0, kLongest + 1};
    } else if (has(at, '+')) {
      found = {1, kLongest + 1};
    } else if (has(at, '?')) {
      found = {0, 1};
    } else if (has(at, '{')) {
      found.least = number(++at, 0);
      found.most = has(at, ',') ? number(++at, kLongest + 1) : found.least;
      if (!has(at, '}')) throw NotRead();
    } else {
      return found;
    }
    ++at;
    if (has(at, '?')) ++at;
    if (has(at, '*') || has(at, '+') || has(at, '{')) throw NotRead();
    return found;
  }

  Places repeated(std::size_t& at, const Places& from) {
    const std::size_t begin = at;
    Places ends = atom(at, from);
    const std::size_t behind = at;
    const Times often = times(at);
    Places all = often.least == 0 ? from : Places();
    if (often.least <= 1 && often.most >= 1) all |= ends;
    for (std::size_t time = 2; time <= often.most && ends.any(); ++time) {
      std::size_t again = begin;
      ends = atom(again, ends);
      if (again != behind) throw NotRead();
      if (time < often.least) continue;
      if ((ends & ~all).none()) break;
      all |= ends;
    }
    return all;
  }

  Places atom(std::size_t& at, const Places& from) {
    constexpr std::int64_t kMostSteps = 1'000'000;
    if (++steps_ > kMostSteps || at >= expression_.size()) throw NotRead();
    const char letter = expression_[at++];
    switch (letter) {
      case '(': return group(at, from);
      case '[': return one_of(bracket(at), from);
      case '.': return one_of(~Class(), from);
      case '^': return from & Places().set(0);
      case '$': return from & Places().set(text_.size());
      case '\\':
        if (at >= expression_.size()) throw NotRead();
        return one_of(escaped_class(expression_[at++]), from);
      case '*':
      case '+':
      case '?':
      case '{': throw NotRead();
      default: return one_of(Class().set(static_cast<unsigned char>(letter)), from);
    }
  }

  Places group(std::size_t& at, const Places& from) {
    if (has(at, '?')) {
      if (!has(at + 1, ':')) throw NotRead();
      at += 2;
    }
    const Places ends = alternatives(at, from);
    if (!has(at, ')')) throw NotRead();
    ++at;
    return ends;
  }

  Class bracket(std::size_t& at) const {
    const bool not_these = has(at, '^');
    if (not_these) ++at;
    Class set;
    for (bool first = true; !has(at, ']') || first; first = false) {
      if (at >= expression_.size()) throw NotRead();
      const char letter = expression_[at++];
      if (letter == '\\') {
        if (at >= expression_.size()) throw NotRead();
        set |= escaped_class(expression_[at++]);
      } else if (has(at, '-') && at + 1 < expression_.size() && expression_[at + 1] != ']') {
        add_range(set, static_cast<unsigned char>(letter),
                  static_cast<unsigned char>(expression_[at + 1]));
        at += 2;
      } else {
        set.set(static_cast<unsigned char>(letter));
      }
    }
    ++at;
    return not_these ? ~set : set;
  }

  [[nodiscard]] Places one_of(const Class& set, const Places& from) const {
    Places ends;
    for (std::size_t place = 0; place < text_.size(); ++place) {
      if (from.test(place) && set.test(static_cast<unsigned char>(text_[place]))) {
        ends.set(place + 1);
      }
    }
    return ends;
  }

  std::string_view expression_;
  std::string_view text_;
  int depth_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace

std::optional<bool> fullmatch_regex(std::string_view expression, std::string_view text) try {
  if (text.size() > kLongest) return std::nullopt;
  return Matcher(expression, text).whole();
} catch (const NotRead&) {
  return std::nullopt;
}

bool contains_special_regex_character(std::string_view text) {
  return text.find_first_of("\\[](){}*+?|^$") != std::string_view::npos;
}

}  // namespace stepwright::framework_files
