#include "stepwright/launch_scripts/python/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/trimmed.h"
#include "stepwright/launch_scripts/capture_advice.h"
#include "stepwright/launch_scripts/python/library.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

constexpr std::size_t kMostFollowed = 5'000'000;
constexpr std::int64_t kMostTargetParts = 32;  ///< Most attributes in the target of an assignment.
constexpr int kMostImports = 8;                ///< Longest chain of modules that re-export a name.

std::string head_of(std::string_view path) { return std::string(path.substr(0, path.find('.'))); }

/// True if one of the names between dots is `part`.
bool has_part(std::string_view path, std::string_view part) {
  const auto parts = fmt::format(".{}.", path);
  return parts.find(fmt::format(".{}.", part)) != std::string::npos;
}

/// Returns the module name of a file: "recipe" of "folder/recipe.py".
std::string_view module_of(std::string_view file) {
  file = last_path_part(file);
  return file.substr(0, file.rfind(".py"));
}

}  // namespace

PythonProgram::PythonProgram(std::span<const PythonFileText> texts, PythonHost& host)
    : host_(host) {
  for (const auto& [text, name] : texts) {
    const std::size_t file = files_.size();
    files_.push_back({.name = name, .text = text});
    frames_.push_back({.names = {{"__name__", PythonObject::string(module_of(name), 1)},
                                 {"__file__", PythonObject::string(name, 1)}},
                       .file = file});
  }
}

void PythonProgram::begin(std::size_t file) {
  File& own = files_[file];
  if (std::exchange(own.begun, true)) return;
  own.lines = split_python_statements(own.text, own.name);
  const std::size_t before = std::exchange(here_, file);
  run(own.lines);
  here_ = before;
}

std::optional<PythonObject> PythonProgram::global_variable_value(const std::string& name) {
  for (std::size_t file = 0; file < files_.size(); ++file) {
    begin(file);
    const auto found = frames_[file].names.find(name);
    if (found != frames_[file].names.end()) return python_record_of_attributes(found->second);
  }
  return std::nullopt;
}

PythonObject* PythonProgram::find(const std::string& name) {
  std::size_t frame = here_;
  for (;; --frame) {
    const auto found = frames_[frame].names.find(name);
    if (found != frames_[frame].names.end()) return &found->second;
    if (!frames_[frame].nested) break;
  }
  Names& globals = frames_[frames_[here_].file].names;
  const auto found = globals.find(name);
  return found != globals.end() ? &found->second : nullptr;
}

std::string PythonProgram::full_name(const std::string& path) const {
  const std::string head = head_of(path);
  const auto imported = file_here().imported.find(head);
  return imported == file_here().imported.end() ? path
                                                : imported->second + path.substr(head.size());
}

/// Returns the full name of an imported name after following modules among the files that only
/// re-export it.
std::string PythonProgram::handed_on(std::string full) const {
  for (int hops = 0; hops < kMostImports; ++hops) {
    const std::size_t dot = full.rfind('.');
    if (dot == std::string::npos) break;
    const std::string module(last_python_name(std::string_view(full).substr(0, dot)));
    const std::string name = full.substr(dot + 1);
    const auto file = std::ranges::find_if(files_, [&](const File& one) {
      return module_of(one.name) == module && one.imported.contains(name);
    });
    if (file == files_.end() || file->imported.at(name) == full) break;
    full = file->imported.at(name);
  }
  return full;
}

/// Returns the names that a dotted name can have in the file that it is imported from.
std::vector<std::string> PythonProgram::names_elsewhere(const std::string& path) const {
  const std::string head = head_of(path);
  const auto imported = file_here().imported.find(head);
  if (imported == file_here().imported.end()) return {};
  std::vector<std::string> names = {std::string(last_python_name(imported->second)) +
                                    path.substr(head.size())};
  if (head.size() < path.size()) names.push_back(path.substr(head.size() + 1));
  return names;
}

/// Interprets a file, unless it is the current one; true if it is another.
bool PythonProgram::looks_into(std::size_t file) {
  if (file == frames_[here_].file) return false;
  begin(file);
  return true;
}

std::optional<PythonObject> PythonProgram::value_elsewhere(const std::string& path) {
  for (const std::string& name : names_elsewhere(path)) {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      if (!looks_into(file)) continue;
      const std::string head = head_of(name);
      const auto found = frames_[file].names.find(head);
      if (found == frames_[file].names.end()) continue;
      PythonObject one = python_record_of_attributes(found->second);
      std::size_t at = head.size();
      while (at < name.size()) {
        const std::size_t end = std::min(name.find('.', at + 1), name.size());
        PythonObject below = python_attribute(one, name.substr(at + 1, end - at - 1), 0);
        one = std::move(below);
        at = end;
      }
      return one;
    }
  }
  return std::nullopt;
}

/// Returns the definition of a function or class in this file or, if it has none, in another one;
/// null if no file has it.
template <class Definition>
Definition* PythonProgram::defined(std::map<std::string, Definition> File::* kind,
                                   const std::string& path) {
  const auto own = (file_here().*kind).find(path);
  if (own != (file_here().*kind).end()) return &own->second;
  std::vector<std::string> names = names_elsewhere(path);
  std::string name = names.empty() ? path : names.back();
  for (int hops = 0; hops < kMostImports && !name.empty(); ++hops) {
    std::string further;
    for (std::size_t file = 0; file < files_.size(); ++file) {
      if (!looks_into(file)) continue;
      const auto found = (files_[file].*kind).find(name);
      if (found != (files_[file].*kind).end()) return &found->second;
      // A module that imports the name from another module under another name.
      const auto through = files_[file].imported.find(name);
      if (through == files_[file].imported.end()) continue;
      const std::string there(last_python_name(through->second));
      if (there != name) further = there;
    }
    name = std::move(further);
  }
  return nullptr;
}

PythonProgram::Class* PythonProgram::defined_class(const std::string& path) {
  return defined(&File::classes, path);
}

PythonObject PythonProgram::value(const std::string& path, std::uint32_t line) {
  const std::string head = head_of(path);
  PythonObject* found = find(head);
  if (found == nullptr) {
    if (auto other = value_elsewhere(path)) {
      other->line = line;
      return *other;
    }
    return host_.value_of_undefined_name(path, full_name(path), line);
  }
  PythonObject one = python_record_of_attributes(*found);
  one.line = line;
  for (std::size_t at = head.size(); at < path.size();) {
    const std::size_t end = std::min(path.find('.', at + 1), path.size());
    PythonObject below = python_attribute(one, path.substr(at + 1, end - at - 1), line);
    one = std::move(below);
    at = end;
  }
  if (one.is(ObjectKind::kUnknown) && one.said.empty() && head.size() < path.size())
    one.said = path;
  return one;
}

PythonObject PythonProgram::call(const std::string& path, const PythonArguments& given) {
  PythonCall call{path, full_name(path), given, file()};
  if (auto known = host_.host_call_result(call)) return *known;
  if (PythonFunctionDefinition* own = defined(&File::functions, path))
    return invoke(*own, given, nullptr);
  if (const Class* type = defined(&File::classes, path)) return instance(*type, given);
  call.full = handed_on(std::move(call.full));
  if (auto known = host_.result_of_undefined_call(call)) return *known;
  if (auto known = call_python_library_function(call.full, given)) return *known;
  const std::size_t dot = path.rfind('.');
  PythonObject result = PythonObject::unknown(path, given.line);
  if (dot != std::string::npos) {
    PythonObject self = value(path.substr(0, dot), given.line);
    result = call_python_method(self, path.substr(dot + 1), given);
  }
  // Gives the unknown value a body, so that attributes set on it show under all of its names.
  if (result.is(ObjectKind::kUnknown) && result.body == nullptr) {
    result.body = std::make_shared<PythonObject::Body>();
    result.body->made_by = kUnknownPythonClassName;
  }
  return result;
}

PythonObject PythonProgram::call_python_method(PythonObject& self, const std::string& name,
                                               const PythonArguments& given) {
  if (self.is(ObjectKind::kRecord)) {
    PythonFunctionDefinition* own =
        defined(&File::functions, fmt::format("{}.{}", self.body->made_by, name));
    if (own != nullptr) return invoke(*own, given, &self);
  }
  PythonArguments of = given;
  of.unnamed.insert(of.unnamed.begin(), self);
  if (auto known = host_.result_of_undefined_call({"." + name, "." + name, of, file()}))
    return *known;
  if (auto known = call_python_builtin_method(self, name, given)) return *known;
  return PythonObject::unknown(name, given.line);
}

void PythonProgram::bind(const std::string& path, PythonObject value) {
  const std::string head = head_of(path);
  Frame& frame = frames_[here_];
  if (head.size() == path.size()) {
    const bool global = frame.global_names.contains(path);
    (global ? frames_[frame.file] : frame).names[path] = std::move(value);
    return;
  }
  PythonObject* owner = find(head);
  // Attributes set on an imported module are not recorded.
  if (owner == nullptr && file_here().imported.contains(head)) return;
  if (std::ranges::count(path, '.') > kMostTargetParts) {
    return host_.note_skipped_expression(head, "an attribute of too many", value.line);
  }
  if (owner == nullptr) owner = &(frame.names[head] = PythonObject::record());
  std::size_t at = head.size();
  for (std::size_t end = path.find('.', at + 1); end != std::string::npos;
       end = path.find('.', at + 1)) {
    open_object(*owner, std::string_view(path).substr(0, at), value.line);
    const std::string part = path.substr(at + 1, end - at - 1);
    if (owner->body->find(part) == nullptr) owner->body->set(part, PythonObject::record());
    owner = owner->body->find(part);
    at = end;
  }
  open_object(*owner, std::string_view(path).substr(0, at), value.line);
  owner->body->set(path.substr(at + 1), value);
}

/// Turns the value on which an attribute is set into an object.
void PythonProgram::open_object(PythonObject& object, std::string_view path, std::uint32_t line) {
  object = python_record_of_attributes(object);
  if (object.is(ObjectKind::kRecord)) return;
  const bool unknown = object.is(ObjectKind::kUnknown);
  if (unknown && object.body != nullptr && object.body->made_by != kUnknownPythonClassName) {
    // Another assignment can have set the attribute on its owner by now.
    const auto owner = object.body;
    const PythonObject* present = owner->find(object.text);
    const bool record = present != nullptr && present->is(ObjectKind::kRecord);
    const PythonObject own = record ? *present : PythonObject::record();
    if (!record) owner->set(object.text, own);
    object = own;
    return;
  }
  if (unknown && !object.said.empty())
    host_.note_skipped_expression(path, object.said, object.line);
  const auto body = unknown ? object.body : nullptr;
  object = PythonObject::record();
  object.line = line;
  if (body != nullptr) object.body = body;
}

void PythonProgram::add_python_interpretation_effort(std::size_t effort, std::uint32_t line) {
  effort_ += effort;
  if (effort_ > kMostFollowed) {
    fail_input(fmt::format("{}:{}: following what it does takes too much{}", file(), line,
                           computed_configuration_advice("what runs", line)));
  }
}

PythonObject PythonProgram::evaluate_program_expression(std::string_view text, std::uint32_t line) {
  const auto [tree, added] = trees_.try_emplace({text.data(), text.size()});
  if (added) tree->second = parse_python_expression(text, {line, file()});
  return evaluate_python_expression(tree->second, *this);
}

void PythonProgram::import_names(std::string_view statement) {
  std::string module;
  if (starts_python_word(statement, "from")) {
    module = std::string(trimmed(statement.substr(4, statement.find(" import ") - 4))) + ".";
  }
  for (const auto& [name, there] : python_imported_names(statement)) {
    if (name.find('.') != std::string::npos) continue;
    file_here().imported[name] = module + there;
    for (std::size_t file = 0; file < files_.size(); ++file) {
      if (has_part(module + there, module_of(files_[file].name))) begin(file);
    }
  }
}

}  // namespace stepwright::launch_scripts
