#include "stepwright/launch_scripts/python/program_options.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "stepwright/core/tree.h"
#include "stepwright/launch_scripts/python/tree.h"

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

constexpr std::size_t kMostOptions = 10'000;

bool is_option(std::string_view word) { return word.starts_with("--") && word.size() > 2; }

const PythonObject* named(const PythonArguments& given, std::string_view name) {
  const auto found = std::ranges::find_if(
      given.named,
      [&](const std::pair<std::string, PythonObject>& one) { return one.first == name; });
  return found == given.named.end() ? nullptr : &found->second;
}

/// Returns a value of a command line: a number or a truth value if it reads like one, unless the
/// option's default is a text.
PythonObject value_of(const std::string& text, const PythonObject& usual) {
  if (text.empty()) return PythonObject::boolean(!(usual.is(ObjectKind::kBool) && usual.truth));
  if (usual.is(ObjectKind::kText)) return PythonObject::string(text, 0);
  return python_value_of_tree(DocumentTree::make_scalar(text, false), 0);
}

}  // namespace

std::string argparse_attribute_name(std::string_view word) {
  std::string name(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  std::ranges::replace(name, '-', '_');
  return name;
}

ArgparseOptions::ArgparseOptions(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size() && said_.size() < kMostOptions; ++i) {
    const std::string& text = words[i];
    if (!is_option(text)) continue;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) {
      said_[argparse_attribute_name(text.substr(0, equals))] = text.substr(equals + 1);
    } else if (i + 1 < words.size() && !is_option(words[i + 1])) {
      said_[argparse_attribute_name(text)] = words[i + 1];
    } else {
      said_[argparse_attribute_name(text)] = "";
    }
  }
}

void ArgparseOptions::set(std::string_view name, std::string_view value) {
  said_[argparse_attribute_name(name)] = std::string(value);
}

void ArgparseOptions::add(const PythonArguments& given) {
  const auto is_name = [](const PythonObject& one) {
    return one.is(ObjectKind::kText) && is_option(one.text);
  };
  const auto found = std::ranges::find_if(given.unnamed, is_name);
  if (found == given.unnamed.end() || defaults_.size() >= kMostOptions) return;
  const PythonObject* stated = named(given, "dest");
  const std::string name = stated != nullptr ? stated->text : argparse_attribute_name(found->text);
  const PythonObject* action = named(given, "action");
  const PythonObject* usual = named(given, "default");
  const PythonObject* required = named(given, "required");
  PythonObject value;
  if (usual != nullptr) {
    value = *usual;
  } else if (action != nullptr && action->text == "store_true") {
    value = PythonObject::boolean(false);
  } else if (action != nullptr && action->text == "store_false") {
    value = PythonObject::boolean(true);
  } else if (required != nullptr && required->truth) {
    value = PythonObject::unknown(name, given.line);
    value.said = found->text;
  }
  defaults_[name] = std::move(value);
}

void ArgparseOptions::fill(PythonObject& object, bool all) const {
  for (const auto& [name, text] : said_) {
    const PythonObject* usual = object.body->find(name);
    if (usual == nullptr && !all) continue;
    const PythonObject before = usual == nullptr ? PythonObject() : *usual;
    object.body->set(name, text.empty() ? PythonObject::boolean(true) : value_of(text, before));
  }
}

PythonArguments ArgparseOptions::call_arguments(const std::vector<std::string>& parameters,
                                                std::uint32_t line) {
  PythonArguments given{.unnamed = {}, .named = {}, .line = line};
  for (const std::string& name : parameters) {
    const auto said = said_.find(name);
    if (said != said_.end()) given.named.emplace_back(name, value_of(said->second, {}));
    defaults_[name] = said == said_.end() ? PythonObject() : given.named.back().second;
  }
  return given;
}

PythonObject ArgparseOptions::parsed_arguments() const {
  PythonObject options = PythonObject::record();
  for (const auto& [name, usual] : defaults_) {
    const auto said = said_.find(name);
    options.body->set(name, said == said_.end() ? usual : value_of(said->second, usual));
  }
  return options;
}

}  // namespace stepwright::launch_scripts
