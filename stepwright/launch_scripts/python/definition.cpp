#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/trimmed.h"
#include "stepwright/launch_scripts/python/program.h"

// Interprets functions and classes of a program.

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

constexpr int kDeepestCall = 30;
constexpr int kDeepestCaller = 60;  ///< Deepest nesting of blocks in which calls are followed.
constexpr int kDeepestBase = 10;

/// Returns an unknown value for a call that is not interpreted, with the reason.
PythonObject not_followed(const std::string& name, std::string_view why,
                          const PythonArguments& given) {
  PythonObject open = PythonObject::unknown(name, given.line);
  open.said = fmt::format("{}, which {}", name, why);
  return open;
}

PythonObject too_deep(const std::string& name, const PythonArguments& given) {
  return not_followed(
      name, fmt::format("calls itself, or others deeper than {} levels", kDeepestCall), given);
}

/// Returns the name in "name: type = default".
std::string_view name_of_parameter(std::string_view part) {
  const std::string_view declared = part.substr(0, find_python_operator(part, "="));
  return trimmed(declared.substr(0, std::min(declared.find(':'), declared.size())));
}

/// Returns a named argument that no parameter accepts, with which Python would fail; empty: there
/// is none.
std::string_view untaken(std::string_view parameters, const PythonArguments& given) {
  const std::vector<std::string_view> parts = split_at_python_commas(parameters);
  const auto takes = [&](std::string_view name) {
    return std::ranges::any_of(parts, [&](std::string_view part) {
      return part.starts_with("**") || name_of_parameter(part) == name;
    });
  };
  for (const auto& [name, value] : given.named) {
    if (!takes(name)) return name;
  }
  return {};
}

}  // namespace

std::vector<std::string_view> split_at_python_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t comma = end_of_python_item(text, 0, ",");
    std::string_view part = trimmed(text.substr(0, comma));
    while (part.starts_with('#')) {
      part = trimmed(part.substr(std::min(part.find('\n'), part.size())));
    }
    if (!part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

PythonObject PythonProgram::invoke(PythonFunctionDefinition& function, const PythonArguments& given,
                                   const PythonObject* self) {
  if (calls_ == kDeepestCall || depth_ > kDeepestCaller) return too_deep(function.name, given);
  const std::string_view extra = untaken(function.parameters, given);
  if (!extra.empty()) {
    return not_followed(function.name, fmt::format("takes no argument {}", extra), given);
  }
  ++calls_;
  const std::size_t caller = std::exchange(here_, function.nested ? here_ : function.file);
  frames_.push_back(frame_of(function, given, self));
  here_ = frames_.size() - 1;
  returned_ = PythonObject();
  const bool returns = run(function.body) == Flow::kReturn;
  frames_.pop_back();
  --calls_;
  here_ = caller;
  PythonObject result = std::exchange(returned_, PythonObject());
  return returns ? result : PythonObject();
}

/// Returns a frame with the parameters bound to arguments; defaults are evaluated in the function's
/// file.
PythonProgram::Frame PythonProgram::frame_of(const PythonFunctionDefinition& function,
                                             const PythonArguments& given,
                                             const PythonObject* self) {
  Frame frame{.names = {}, .file = function.file, .nested = function.nested};
  std::size_t place = 0;
  bool first = true;
  for (const std::string_view part : split_at_python_commas(function.parameters)) {
    const auto before = static_cast<std::size_t>(part.data() - function.parameters.data());
    const auto down = std::ranges::count(function.parameters.substr(0, before), '\n');
    if (first && self != nullptr) {
      frame.names[std::string(part)] = *self;
    } else {
      parameter({part, function.line + static_cast<std::uint32_t>(down)}, given, place, frame);
    }
    first = false;
  }
  for (auto& [name, value] : frame.names) {
    if (!value.is(ObjectKind::kUnknown) || !value.said.empty()) continue;
    value.said = fmt::format("argument {} of {}", name, function.name);
    value.line = recorded_line(function.line);
  }
  return frame;
}

/// Binds one parameter, "name: type = default".
void PythonProgram::parameter(const PythonStatement& said, const PythonArguments& given,
                              std::size_t& place, Frame& frame) {
  const std::string_view part = said.text;
  if (part == "*" || part == "/") return;
  if (part.starts_with("**")) {
    PythonObject rest = PythonObject::record();
    for (const auto& [key, value] : given.named) {
      if (!frame.names.contains(key)) rest.body->set(key, value);
    }
    frame.names[std::string(name_of_parameter(part.substr(2)))] = rest;
    return;
  }
  if (part.starts_with('*')) {
    PythonObject rest = PythonObject::list();
    for (; place < given.unnamed.size(); ++place) rest.body->items.push_back(given.unnamed[place]);
    frame.names[std::string(name_of_parameter(part.substr(1)))] = rest;
    return;
  }
  const std::size_t equals = find_python_operator(part, "=");
  const std::string_view declared = part.substr(0, equals);
  const std::size_t colon = std::min(declared.find(':'), declared.size());
  const std::string name(name_of_parameter(part));
  const PythonObject* value = given.find(name, place++);
  if (value != nullptr) {
    frame.names[name] = *value;
  } else if (equals != std::string_view::npos) {
    frame.names[name] = evaluate_program_expression(trimmed(part.substr(equals + 1)), said.line);
  } else {
    const std::string_view type = declared.substr(std::min(colon + 1, declared.size()));
    const Class* own = defined_class(std::string(trimmed(type)));
    frame.names[name] =
        own != nullptr ? instance(*own, {}) : PythonObject::unknown(name, given.line);
  }
}

PythonObject PythonProgram::instance(const Class& type, const PythonArguments& given) {
  if (calls_ == kDeepestCall) return too_deep(type.name, given);
  ++calls_;
  PythonObject made = PythonObject::record();
  made.body->made_by = type.name;
  made.line = given.line;
  std::size_t place = 0;
  fields(type, given, place, made);
  const auto& functions = files_[type.file].functions;
  if (!functions.contains(type.name + ".__init__")) {
    // Arguments for fields inherited from a class that no file has.
    for (const auto& [name, value] : given.named) {
      if (made.body->find(name) == nullptr) made.body->set(name, value);
    }
  }
  for (const char* method : {".__init__", ".__post_init__"}) {
    const auto found = files_[type.file].functions.find(type.name + method);
    if (found == functions.end()) continue;
    const bool init = std::string_view(method) == ".__init__";
    invoke(found->second, init ? given : PythonArguments(), &made);
  }
  --calls_;
  return made;
}

void PythonProgram::fields(const Class& type, const PythonArguments& given, std::size_t& place,
                           PythonObject& made, int depth) {
  const Class* base = type.base.empty() ? nullptr : defined_class(type.base);
  if (base != nullptr && depth < kDeepestBase) {
    fields(*base, given, place, made, depth + 1);
  }
  const std::size_t before = std::exchange(here_, type.file);
  for (const PythonStatement& line : type.body) {
    const bool own = line.indent == type.body.front().indent;
    if (own && !is_noop_python_statement(line.text)) field(line, given, place, made);
  }
  here_ = before;
}

/// Sets one field of a class, "name: type = default".
void PythonProgram::field(const PythonStatement& line, const PythonArguments& given,
                          std::size_t& place, PythonObject& made) {
  const PythonAssignment set = python_assignment(line.text);
  const std::size_t colon = std::min(line.text.find(':'), line.text.size());
  const std::string name(set.value ? set.target : trimmed(line.text.substr(0, colon)));
  if (!is_dotted_python_name(name) || starts_python_word(line.text, "def")) return;
  const PythonObject* value = given.find(name, place++);
  if (value != nullptr) {
    made.body->set(name, *value);
  } else {
    made.body->set(name, set.value ? evaluate_program_expression(*set.value, line.line)
                                   : PythonObject::unknown(name, recorded_line(line.line)));
  }
}

void PythonProgram::define(std::string_view text, const PythonStatement& line, Lines body,
                           const std::string& owner) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return;
  const std::size_t close = closing_python_bracket_position(text, open);
  const std::string name = owner + std::string(trimmed(text.substr(3, open - 3)));
  file_here().functions[name] = {.name = name,
                                 .parameters = text.substr(open + 1, close - open - 1),
                                 .line = line.line,
                                 .body = body,
                                 .file = frames_[here_].file,
                                 .nested = here_ >= files_.size() && owner.empty()};
}

void PythonProgram::define_class(std::string_view text, Lines body) {
  const std::size_t end = std::min(text.find_first_of("(:"), text.size());
  const std::string name(trimmed(text.substr(5, end - 5)));
  std::string base;
  if (end < text.size() && text[end] == '(') {
    const std::size_t close = closing_python_bracket_position(text, end);
    base = std::string(trimmed(text.substr(end + 1, close - end - 1)));
  }
  // Methods are defined after the fields are read.
  std::size_t first = 0;
  while (first < body.size() && !starts_python_word(body[first].text, "def")) ++first;
  for (std::size_t at = first; at < body.size();) {
    const std::size_t stop = end_of_python_block(body, at);
    if (starts_python_word(body[at].text, "def")) {
      define(body[at].text, body[at], body.subspan(at + 1, stop - at - 1), name + ".");
    }
    at = stop;
  }
  file_here().classes[name] = {name, base, body.subspan(0, first), frames_[here_].file};
}

}  // namespace stepwright::launch_scripts
