#include "stepwright/framework_files/maxtext/form.h"

#include <algorithm>

#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/launchers/setting_words.h"
#include "stepwright/framework_files/recognition/target_data.h"

namespace stepwright::framework_files {

namespace {

/// How its log names a value: src/maxtext/configs/pyconfig.py.
constexpr std::string_view kLogged = "Config param ";

constexpr SettingProgram kProgram = {
    .framework = "MaxText", .target = "maxtext", .has_setting = [](std::string_view name) {
      return known_setting(known_settings("maxtext/settings"), name) != nullptr;
    }};

Document read_logged(const SourceFile& file) {
  Tree settings = Tree::mapping();
  std::uint32_t line = 0;
  std::string_view text = file.text;
  constexpr std::size_t kMostSettings = 10'000;
  while (!text.empty() && settings.items.size() < kMostSettings) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    ++line;
    const std::size_t at = one.find(kLogged);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = one.substr(at + kLogged.size());
    const std::size_t colon = rest.find(": ");
    if (colon == std::string_view::npos) continue;
    Tree value = plain_scalar(rest.substr(colon + 2));
    value.line = line;
    settings.set(rest.substr(0, colon), value);
  }
  return Document::from(std::move(settings), file.name);
}

void lay_file(Tree& under, const SourceFile& file) {
  const Document document = parse_as_python(file.text, file.name);
  const Tree over = placed_tree(document.root());
  for (std::size_t i = 0; i + 1 < over.items.size(); i += 2) {
    under.set(over.items[i].text, over.items[i + 1]);
  }
}

}  // namespace

Document read_maxtext_form(Sources files, const Given& given, Draft& draft) {
  const SourceFile& first = files.front();
  if (holds(first, kLogged)) return with_settings(read_logged(first), given);
  Tree settings = Tree::mapping();
  const bool script = is_file_of("maxtext", first, "script") && !first.name.ends_with(".yml");
  for (const SourceFile& file : files.subspan(script ? 1 : 0)) lay_file(settings, file);
  if (!script) return with_settings(Document::from(std::move(settings), first.name), given);
  const Document words = read_setting_words(files.first(1), kProgram, given, draft);
  MappingBuilder all(std::move(settings));
  for (const auto& [name, value] : words.root().members()) all.set(name, placed_tree(value));
  settings = all.take();
  // The file that it starts with is there, or says nothing of its own.
  if (files.size() > 1 || settings.find("[]") == nullptr ||
      settings.find("[]")->text.ends_with("base.yml")) {
    settings.set("[]", Tree());
  }
  return Document::from(std::move(settings), first.name);
}

}  // namespace stepwright::framework_files
