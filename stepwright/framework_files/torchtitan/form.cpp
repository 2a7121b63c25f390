#include "stepwright/framework_files/torchtitan/form.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/syntax/toml.h"

namespace stepwright {
namespace {

constexpr std::string_view kRoot = "Trainer.Config";

/// The words before a configuration in a log: torchtitan/config/manager.py, torchtitan/train.py.
constexpr std::string_view kPrinted[] = {"Running with configs: {", "Running with args: {"};

/// The mapping in braces that begins a text.
std::string_view braced(std::string_view text, const std::string& name) {
  std::int64_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\') ++i;
    if (quoted) continue;
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return text.substr(0, i + 1);
  }
  fail_input(fmt::format("{}: the configuration that it prints never ends", name));
}

/// A function of the registry that names a flavor: torchtitan/models/*/__init__.py.
std::optional<Tree> known_call(const std::string& function, const Tree& arguments) {
  if (!function.ends_with("model_registry")) return std::nullopt;
  Tree call = arguments;
  call.set("()", Tree::scalar(function, true));
  return call;
}

/// Without its batch or its degrees a configuration says nothing.
void check_sections(const PythonConfig& config, const std::string& name) {
  for (const PythonUnread& one : config.unread) {
    if (one.name != "training" && one.name != "parallelism") continue;
    fail_input(fmt::format("{}:{}: {} is {}, and nothing is executed: write out what it returns",
                           name, one.line, one.name, printable(one.expression)));
  }
}

}  // namespace

TitanFile read_titan_file(const SourceFile& file, const Given& given) {
  const bool python = file.name.ends_with(".py") || holds(file, kRoot);
  if (python) {
    PythonConfig config = read_python_config(file.text, {.root = kRoot, .known = known_call},
                                             given.function, file.name);
    check_sections(config, file.name);
    Document document = with_settings(Document::from(config.tree, file.name), given);
    return {std::move(document), false, std::move(config)};
  }
  std::string_view text = file.text;
  for (const std::string_view words : kPrinted) {
    const std::size_t at = text.find(words);
    if (at != std::string_view::npos) text = braced(text.substr(at + words.size() - 1), file.name);
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  Document document = json ? Document::parse(text, file.name) : parse_toml(text, file.name);
  return {with_settings(std::move(document), given), true, {}};
}

}  // namespace stepwright
