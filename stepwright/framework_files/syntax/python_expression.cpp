#include "stepwright/framework_files/syntax/python_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/syntax/python_source.h"
#include "stepwright/framework_files/syntax/python_statement.h"

namespace stepwright {
namespace {

using ObjectKind = PythonObject::Kind;

constexpr int kDeepestExpression = 40;

/// Reads one expression, from its loosest operator down.
class Expression {
 public:
  Expression(std::string_view text, std::uint32_t line, PythonNames& names, int depth)
      : text_(text), names_(names), first_line_(line), depth_(depth) {}

  PythonObject whole() {
    PythonObject value = choice();
    skip();
    if (!bad_ && here() == ',') value = tuple(std::move(value));
    skip();
    if (bad_ || at_ < text_.size()) return PythonObject::unknown(text_, first_line_);
    return value;
  }

 private:
  /// One level deeper, as long as it lives.
  class Level {
   public:
    explicit Level(Expression& of) : of_(of) {
      if (++of_.depth_ > kDeepestExpression) {
        fail_input(fmt::format("{}:{}: brackets nest deeper than {} levels", of_.names_.file(),
                               of_.line(), kDeepestExpression));
      }
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --of_.depth_; }

   private:
    Expression& of_;
  };

  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  std::uint32_t line() {
    if (at_ < counted_) counted_ = 0;
    if (counted_ == 0) counted_line_ = first_line_;
    const std::string_view passed = text_.substr(counted_, std::min(at_, text_.size()) - counted_);
    counted_line_ += static_cast<std::uint32_t>(std::ranges::count(passed, '\n'));
    counted_ = std::min(at_, text_.size());
    return counted_line_;
  }

  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '\\' && rest().starts_with("\\\n")) {
        at_ += 2;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else {
        break;
      }
    }
  }
  bool take(std::string_view sign) {
    skip();
    if (!rest().starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  bool take_word(std::string_view word) {
    skip();
    if (!starts_python_word(rest(), word)) return false;
    at_ += word.size();
    return true;
  }
  PythonObject bad() {
    bad_ = true;
    at_ = text_.size();
    return {};
  }
  PythonObject inner(std::string_view text, std::uint32_t line) {
    return python_expression(text, line, names_, depth_);
  }
  PythonObject spent(PythonObject value) {
    names_.spend(python_weight(value), value.line);
    return value;
  }

  PythonObject tuple(PythonObject first) {
    PythonObject all = PythonObject::list();
    all.body->items.push_back(std::move(first));
    while (take(",")) {
      skip();
      if (at_ >= text_.size()) break;
      all.body->items.push_back(choice());
    }
    return all;
  }

  /// "a if b else c".
  PythonObject choice() {
    const Level level(*this);
    skip();
    if (starts_python_word(rest(), "lambda")) return bad();
    take_word("await");
    PythonObject yes = either();
    if (!take_word("if")) return yes;
    const std::size_t begin = at_;
    const PythonObject condition = either();
    const std::string_view said = text_.substr(begin, std::min(at_, text_.size()) - begin);
    if (!take_word("else")) return bad();
    PythonObject no = choice();
    if (const auto truth = python_truth(condition)) return *truth ? yes : no;
    return either_of(yes, no, said);
  }

  /// One of two values, and nobody knows which.
  PythonObject either_of(const PythonObject& yes, const PythonObject& no, std::string_view said) {
    if (python_comparison("==", yes, no).value_or(false)) return yes;
    PythonObject open = PythonObject::unknown(python_trimmed(said), line());
    const auto nothing = [](const PythonObject& one) {
      return one.is(ObjectKind::kNone) || (one.is(ObjectKind::kList) && one.body->items.empty()) ||
             (one.is(ObjectKind::kText) && one.text.text.empty());
    };
    open.truth = nothing(yes) || nothing(no);
    return open;
  }

  PythonObject either() { return joined("or"); }

  PythonObject joined(std::string_view word) {
    const bool deciding = word == "or";
    PythonObject left = deciding ? joined("and") : negated();
    while (!bad_ && take_word(word)) {
      PythonObject right = deciding ? joined("and") : negated();
      const auto truth = python_truth(left);
      const auto other = python_truth(right);
      if (truth) {
        if (*truth != deciding) left = std::move(right);
      } else if (other && *other == deciding && right.is(ObjectKind::kBool)) {
        left = std::move(right);
      } else if (deciding && (left.is(ObjectKind::kUnknown) || left.is(ObjectKind::kNone)) &&
                 !right.is(ObjectKind::kBool)) {
        // "a or DEFAULT": what nobody gives is the default.
        left = std::move(right);
      } else {
        left = PythonObject::unknown(left.text.text, line());
      }
    }
    return left;
  }

  PythonObject negated() {
    const Level level(*this);
    if (!take_word("not")) return compared();
    const PythonObject value = negated();
    const auto truth = python_truth(value);
    return truth ? PythonObject::boolean(!*truth)
                 : PythonObject::unknown(python_str(value).text, line());
  }

  std::string_view comparison_sign() {
    static constexpr std::array<std::string_view, 6> kSigns = {"==", "!=", "<=", ">=", "<", ">"};
    for (const std::string_view sign : kSigns) {
      if (take(sign)) return sign;
    }
    if (take_word("in")) return "in";
    if (take_word("is")) return take_word("not") ? "is not" : "is";
    skip();
    const std::size_t before = at_;
    if (take_word("not") && take_word("in")) return "not in";
    at_ = before;
    return "";
  }

  PythonObject compared() {
    PythonObject left = sum();
    std::optional<bool> all = true;
    bool any = false;
    for (std::string_view sign = comparison_sign(); !bad_ && !sign.empty();
         sign = comparison_sign()) {
      any = true;
      PythonObject right = sum();
      const auto holds = python_comparison(sign, left, right);
      if (all.value_or(false)) all = holds;
      if (holds && !*holds) all = false;
      const PythonObject& open =
          left.is(ObjectKind::kUnknown) || right.is(ObjectKind::kInteger) ? left : right;
      open_ = python_str(open).open() ? python_str(open).text : open_;
      left = std::move(right);
    }
    if (!any) return left;
    return all ? PythonObject::boolean(*all) : PythonObject::unknown(open_, line());
  }

  PythonObject sum() {
    PythonObject left = product();
    for (skip(); !bad_ && (here() == '+' || here() == '-' || here() == '|'); skip()) {
      const std::string_view sign = text_.substr(at_++, 1);
      if (here() == '=') return bad();
      const PythonObject right = product();
      left = spent(python_operation(sign, left, right));
    }
    return left;
  }

  PythonObject product() {
    PythonObject left = unary();
    for (skip(); !bad_ && (here() == '*' || here() == '/' || here() == '%'); skip()) {
      std::size_t size = rest().starts_with("//") ? 2 : 1;
      if (rest().starts_with("**")) return bad();
      const std::string_view sign = text_.substr(at_, size);
      at_ += size;
      const PythonObject right = unary();
      left = spent(python_operation(sign, left, right));
    }
    return left;
  }

  PythonObject unary() {
    const Level level(*this);
    skip();
    if (here() == '-' || here() == '+') {
      const bool minus = text_[at_++] == '-';
      PythonObject value = unary();
      if (value.is(ObjectKind::kInteger) && minus) value.number = -value.number;
      if (value.is(ObjectKind::kText) && minus) {
        PythonString sign("-", value.line);
        sign.add(value.text);
        value.text = sign;
      }
      return value;
    }
    return behind(atom());
  }

  /// Indices, attributes and calls behind a value.
  PythonObject behind(PythonObject value) {
    for (skip(); !bad_ && (here() == '.' || here() == '[' || here() == '('); skip()) {
      if (here() == '[') {
        value = indexed(value);
        continue;
      }
      if (here() == '(') {
        arguments();
        value = PythonObject::unknown("value", line());
        continue;
      }
      ++at_;
      const std::string name = identifier();
      skip();
      if (here() == '(') {
        const PythonArguments given = arguments();
        names_.spend(weight(given), given.line);
        auto result = python_object_method(value, name, given);
        value = spent(result ? *result : PythonObject::unknown(name, given.line));
      } else {
        PythonObject* member = value.is(ObjectKind::kRecord) ? value.body->find(name) : nullptr;
        PythonObject found = member != nullptr ? *member : PythonObject::unknown(name, line());
        value = std::move(found);
      }
    }
    return value;
  }

  static std::size_t weight(const PythonArguments& given) {
    std::size_t all = 1;
    for (const PythonObject& one : given.unnamed) all += python_weight(one);
    for (const auto& [name, one] : given.named) all += python_weight(one);
    return all;
  }

  PythonObject indexed(const PythonObject& value) {
    const std::uint32_t at = line();
    const std::size_t close = closing_python_bracket(text_, at_);
    if (close >= text_.size()) return bad();
    const std::string_view inside = text_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    const std::size_t colon = find_python_operator(inside, ":");
    if (colon != std::string_view::npos) return sliced(value, inside, colon, at);
    const PythonObject index = inner(inside, at);
    if (value.is(ObjectKind::kRecord) && index.is(ObjectKind::kText)) {
      const PythonObject* found = value.body->find(index.text.text);
      return found != nullptr ? *found : PythonObject::unknown(index.text.text, at);
    }
    if (value.is(ObjectKind::kList) && index.is(ObjectKind::kInteger)) {
      const auto size = static_cast<std::int64_t>(value.body->items.size());
      const std::int64_t place = index.number < 0 ? size + index.number : index.number;
      if (place >= 0 && place < size) return value.body->items[static_cast<std::size_t>(place)];
    }
    // What a known mapping holds under an open key is called as the key.
    const bool by_key = value.is(ObjectKind::kRecord) && !index.text.text.empty() &&
                        (index.is(ObjectKind::kUnknown) || index.is(ObjectKind::kNone));
    const bool below = value.is(ObjectKind::kUnknown) && value.number != 0;
    const bool named = index.is(ObjectKind::kText) && !below;
    PythonObject open = PythonObject::unknown(
        by_key ? index.text.text : (named ? index.text.text : value.text.text), at);
    open.number = by_key || below ? 1 : 0;
    return open;
  }

  PythonObject sliced(const PythonObject& value, std::string_view inside, std::size_t colon,
                      std::uint32_t at) {
    PythonObject open = PythonObject::unknown(
        value.is(ObjectKind::kUnknown) ? value.text.text : std::string("part"), at);
    open.truth = true;
    const PythonObject begin = inner(inside.substr(0, colon), at);
    const PythonObject end = inner(inside.substr(colon + 1), at);
    if (!value.is(ObjectKind::kList)) return open;
    const auto size = static_cast<std::int64_t>(value.body->items.size());
    const auto place = [&](const PythonObject& one, std::string_view said, std::int64_t other) {
      if (python_trimmed(said).empty()) return std::optional(other);
      if (!one.is(ObjectKind::kInteger)) return std::optional<std::int64_t>();
      return std::optional(
          std::clamp<std::int64_t>(one.number < 0 ? size + one.number : one.number, 0, size));
    };
    const auto first = place(begin, inside.substr(0, colon), 0);
    const auto last = place(end, inside.substr(colon + 1), size);
    if (!first || !last) return open;
    PythonObject part = PythonObject::list();
    for (std::int64_t i = *first; i < *last; ++i) {
      part.body->items.push_back(value.body->items[static_cast<std::size_t>(i)]);
    }
    return spent(part);
  }

  std::string identifier() {
    skip();
    const std::size_t begin = at_;
    while (is_python_name_char(here())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  PythonObject atom() {
    skip();
    names_.spend(1, first_line_);
    const char c = here();
    if (is_string_here()) return string();
    if (c == '[' || c == '(' || c == '{') return bracketed();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    if (is_python_name_char(c)) return named();
    return bad();
  }

  PythonObject number() {
    const std::size_t begin = at_;
    if (rest().starts_with("...")) {
      at_ += 3;
      return PythonObject::unknown("value", line());
    }
    while (is_python_name_char(here()) || here() == '.' ||
           ((here() == '-' || here() == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
      ++at_;
    }
    std::string digits(text_.substr(begin, at_ - begin));
    std::erase(digits, '_');
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc() && stop == digits.data() + digits.size();
    return whole ? PythonObject::integer(value, line()) : PythonObject::string(digits, line());
  }

  /// A name with dots, called or not.
  PythonObject named() {
    const std::uint32_t at = line();
    std::string path = identifier();
    if (path == "None") return {};
    if (path == "True" || path == "False") return PythonObject::boolean(path == "True");
    for (skip(); here() == '.' && at_ + 1 < text_.size() && is_python_name_char(text_[at_ + 1]);
         skip()) {
      ++at_;
      path += "." + identifier();
    }
    if (here() != '(') return names_.value(path, at);
    PythonArguments given = arguments();
    given.line = at;
    names_.spend(weight(given), at);
    return bad_ ? PythonObject() : spent(names_.call(path, given));
  }

  PythonArguments arguments() {
    const Level level(*this);
    PythonArguments given;
    given.line = line();
    const std::size_t close = closing_python_bracket(text_, at_);
    if (close >= text_.size()) {
      bad();
      return given;
    }
    const std::string_view inside = text_.substr(at_ + 1, close - at_ - 1);
    if (is_comprehension(inside)) {
      given.unnamed.push_back(comprehension(inside, given.line));
      at_ = close + 1;
      return given;
    }
    ++at_;
    while (!bad_ && !take(")")) {
      argument(given);
      skip();
      if (here() != ')' && !take(",")) bad();
    }
    return given;
  }

  void argument(PythonArguments& given) {
    if (take("**")) {
      const PythonObject more = choice();
      if (!more.is(ObjectKind::kRecord)) return;
      for (const auto& [key, value] : more.body->members) given.named.emplace_back(key, value);
      return;
    }
    if (take("*")) {
      spread(choice(), given.unnamed);
      return;
    }
    skip();
    const std::size_t begin = at_;
    const std::string name = identifier();
    skip();
    if (!name.empty() && here() == '=' && !rest().starts_with("==")) {
      ++at_;
      given.named.emplace_back(name, choice());
      return;
    }
    if (!name.empty() && take(":=")) {
      PythonObject value = choice();
      names_.bind(name, value);
      given.unnamed.push_back(std::move(value));
      return;
    }
    at_ = begin;
    given.unnamed.push_back(choice());
  }

  static void spread(PythonObject more, std::vector<PythonObject>& into) {
    if (more.is(ObjectKind::kList)) {
      into.insert(into.end(), more.body->items.begin(), more.body->items.end());
    } else if (more.is(ObjectKind::kUnknown)) {
      more.truth = true;
      into.push_back(std::move(more));
    }
  }

  static bool is_comprehension(std::string_view inside) {
    return find_python_operator(inside, " for ") != std::string_view::npos;
  }

  /// "[f(x) for x in list if g(x)]".
  PythonObject comprehension(std::string_view inside, std::uint32_t at) {
    const Level level(*this);
    const std::size_t loop = find_python_operator(inside, " for ");
    const std::string_view element = python_trimmed(inside.substr(0, loop));
    std::string_view source = inside.substr(loop + 5);
    const std::size_t in = find_python_operator(source, " in ");
    PythonObject open = PythonObject::unknown("part", at);
    open.truth = true;
    if (in == std::string_view::npos || is_comprehension(source)) return open;
    const std::string_view targets = source.substr(0, in);
    source = source.substr(in + 4);
    const std::size_t filter = find_python_operator(source, " if ");
    const PythonObject from = inner(python_trimmed(source.substr(0, filter)), at);
    if (!from.is(ObjectKind::kList) || element.find(':') == 0) {
      open.text = from.is(ObjectKind::kUnknown) ? from.text : open.text;
      return open;
    }
    PythonObject made = PythonObject::list();
    for (const PythonObject& item : std::vector<PythonObject>(from.body->items)) {
      bind_python_targets(targets, item, names_);
      if (filter != std::string_view::npos) {
        const auto kept = python_truth(inner(python_trimmed(source.substr(filter + 4)), at));
        if (!kept.value_or(true)) continue;
      }
      made.body->items.push_back(inner(element, at));
      names_.spend(1 + element.size() / 64, at);
    }
    return made;
  }

  PythonObject bracketed() {
    const Level level(*this);
    const std::uint32_t at = line();
    const char open = here();
    const std::size_t close = closing_python_bracket(text_, at_);
    if (close >= text_.size()) return bad();
    const std::string_view inside = text_.substr(at_ + 1, close - at_ - 1);
    if (is_comprehension(inside)) {
      at_ = close + 1;
      if (open == '{') return PythonObject::unknown("mapping", at);
      return comprehension(inside, at);
    }
    ++at_;
    if (open == '{') return mapping(at);
    return open == '[' ? list("]", at) : grouped(at);
  }

  PythonObject list(std::string_view close, std::uint32_t at) {
    PythonObject made = PythonObject::list();
    made.line = at;
    while (!bad_ && !take(close)) {
      item(made.body->items);
      skip();
      if (!rest().starts_with(close) && !take(",")) bad();
    }
    return made;
  }

  void item(std::vector<PythonObject>& into) {
    if (take("*")) {
      spread(choice(), into);
      return;
    }
    PythonObject one = choice();
    if (into.size() < 10'000) into.push_back(std::move(one));
  }

  /// An expression in brackets, or a tuple.
  PythonObject grouped(std::uint32_t at) {
    skip();
    const std::size_t begin = at_;
    const std::string name = identifier();
    if (!name.empty() && take(":=")) {
      PythonObject value = choice();
      names_.bind(name, value);
      return take(")") ? value : bad();
    }
    at_ = begin;
    if (take(")")) return PythonObject::list();
    const bool many = rest().starts_with("*");
    PythonObject first = many ? PythonObject() : choice();
    if (!many && take(")")) return first;
    at_ = begin;
    return list(")", at);
  }

  PythonObject mapping(std::uint32_t at) {
    PythonObject made = PythonObject::record();
    made.line = at;
    while (!bad_ && !take("}")) {
      if (take("**")) {
        const PythonObject more = choice();
        if (more.is(ObjectKind::kRecord)) {
          for (const auto& [key, value] : more.body->members) made.body->set(key, value);
          if (more.body->made_by == "environ") made.body->made_by = "environ";
        }
      } else {
        const PythonObject key = choice();
        const bool pair = take(":");
        const PythonObject value = pair ? choice() : PythonObject();
        if (pair && !key.is(ObjectKind::kUnknown)) made.body->set(python_str(key).text, value);
      }
      skip();
      if (here() != '}' && !take(",")) bad();
    }
    return made;
  }

  [[nodiscard]] bool is_string_here() const {
    std::size_t end = at_;
    while (end < text_.size() && end < at_ + 2 &&
           std::string_view("rRuUbBfF").find(text_[end]) != std::string_view::npos) {
      ++end;
    }
    return end < text_.size() && (text_[end] == '"' || text_[end] == '\'');
  }

  /// Texts side by side are one.
  PythonObject string() {
    PythonObject made = PythonObject::string("", line());
    for (; !bad_ && is_string_here(); skip()) {
      bool raw = false;
      bool filled = false;
      for (; here() != '"' && here() != '\''; ++at_) {
        raw = raw || here() == 'r' || here() == 'R';
        filled = filled || here() == 'f' || here() == 'F';
      }
      const std::size_t end = end_of_python_string(text_, at_);
      if (end > text_.size()) return bad();
      const std::string_view quoted = text_.substr(at_, end - at_);
      const bool triple = quoted.size() >= 6 && quoted[1] == quoted[0] && quoted[2] == quoted[0];
      const std::size_t width = triple ? 3 : 1;
      const std::uint32_t at = line();
      made.text.add(text_of(quoted.substr(width, quoted.size() - 2 * width), at, raw, filled));
      names_.spend(quoted.size() / 64, at);
      at_ = end;
    }
    return made;
  }

  PythonString text_of(std::string_view inside, std::uint32_t at, bool raw, bool filled) {
    PythonString made;
    std::string plain;
    const auto flush = [&] {
      made.add({plain, at});
      plain.clear();
    };
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const char c = inside[i];
      const char next = i + 1 < inside.size() ? inside[i + 1] : '\0';
      if (c == '\\' && !raw && next != '\0') {
        ++i;
        if (next == '\n') flush();
        if (next == '\n') ++at;
        plain += escaped(next);
      } else if (filled && (c == '{' || c == '}') && next == c) {
        plain += c;
        ++i;
      } else if (filled && c == '{') {
        flush();
        const std::size_t close = closing_python_bracket(inside, i);
        if (close >= inside.size()) {
          bad();
          return made;
        }
        made.add(value_of(inside.substr(i + 1, close - i - 1), at));
        i = close;
      } else {
        plain += c;
        if (c != '\n') continue;
        flush();
        ++at;
      }
    }
    flush();
    return made;
  }

  /// "name!r:>3" of a text with values in it.
  PythonString value_of(std::string_view said, std::uint32_t at) {
    const std::size_t colon = find_python_operator(said, ":");
    std::string_view value = said.substr(0, colon);
    const std::string_view format = colon < said.size() ? said.substr(colon + 1) : "";
    if (value.size() > 2 && value[value.size() - 2] == '!') value.remove_suffix(2);
    value = python_trimmed(value);
    PythonObject one = inner(value, at);
    const bool plain = format.empty() || format == "d" || format == "s";
    return plain ? placed(python_str(one), at) : python_hole(value, at);
  }

  /// What stands inside of a text is where that is.
  static PythonString placed(PythonString value, std::uint32_t at) {
    if (value.text.find(' ') == std::string::npos) std::ranges::fill(value.lines, at);
    return value;
  }

  static std::string escaped(char c) {
    switch (c) {
      case 'n': return "\n";
      case 't': return "\t";
      case '\n': return "";
      case '\\':
      case '"':
      case '\'': return {c};
      default: return {'\\', c};
    }
  }

  std::string_view text_;
  PythonNames& names_;
  std::uint32_t first_line_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  std::uint32_t counted_line_ = 0;
  int depth_;
  bool bad_ = false;
  std::string open_ = "value";  ///< What the last comparison hangs on.
};

}  // namespace

PythonObject python_expression(std::string_view text, std::uint32_t line, PythonNames& names,
                               int depth) {
  return Expression(text, line, names, depth).whole();
}

void bind_python_targets(std::string_view targets, const PythonObject& value, PythonNames& names) {
  targets = python_trimmed(targets);
  if (targets.starts_with('(') && targets.ends_with(')')) {
    targets = targets.substr(1, targets.size() - 2);
  }
  if (targets.find(',') == std::string_view::npos) {
    if (is_python_path(targets)) names.bind(std::string(targets), value);
    return;
  }
  for (std::size_t i = 0; !targets.empty(); ++i) {
    const std::size_t comma = std::min(targets.find(','), targets.size());
    const std::string name(python_trimmed(targets.substr(0, comma)));
    targets.remove_prefix(std::min(comma + 1, targets.size()));
    const bool known = value.is(ObjectKind::kList) && i < value.body->items.size();
    if (is_python_path(name)) {
      names.bind(name, known ? value.body->items[i] : PythonObject::unknown(name, value.line));
    }
  }
}

}  // namespace stepwright
