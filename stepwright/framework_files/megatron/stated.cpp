#include "stepwright/framework_files/megatron/stated.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/megatron/arguments.h"

namespace stepwright::framework_files {
namespace {

// Marks that _print_args of megatron/training/arguments.py prints.
constexpr std::string_view kBlockBegins = "------------ arguments ------------";
constexpr std::string_view kBlockEnds = "------------ end of arguments ------------";

std::string dashed_flag(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

/// Returns the argument that gives a field this value, or that sets the field to any word; nullopt:
/// none.
std::optional<MegatronArgument> argument_of_field(std::string_view field, std::string_view value) {
  for (const MegatronArgument& each : megatron_arguments()) {
    const bool fits = each.arity != ArgumentValueCount::kNone || each.value == value;
    if (each.field == field && fits) return each;
  }
  return std::nullopt;
}

/// True if some switch (an argument without value) sets this field.
bool is_switched(std::string_view field) {
  return std::ranges::any_of(megatron_arguments(), [&](const MegatronArgument& each) {
    return each.field == field && each.arity == ArgumentValueCount::kNone;
  });
}

/// Converts "AttnBackend.flash" and "torch.bfloat16" to the words of a command line.
std::string argument_word(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"torch.float32", "fp32"}, {"torch.bfloat16", "bf16"}, {"torch.float16", "fp16"}};
  for (const auto& [printed, word] : kTypes) {
    if (text == printed) return std::string(word);
  }
  if (text.starts_with("AttnBackend.")) return text.substr(text.find('.') + 1);
  return text;
}

/// Returns the items of "['p2p', 'a2a']" or "[1 2]".
std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> items;
  std::string item;
  for (const char c : text) {
    if (c == ',' || c == ' ' || c == '[' || c == ']' || c == '\'' || c == '"') {
      if (!item.empty()) items.push_back(std::exchange(item, ""));
    } else {
      item += c;
    }
  }
  if (!item.empty()) items.push_back(item);
  return items;
}

bool has_list(const MegatronArgument& argument) {
  return argument.arity != ArgumentValueCount::kNone && argument.arity != ArgumentValueCount::kOne;
}

void add_words(const MegatronArgument& argument, const StatedMegatronArgument& stated,
               std::vector<ShellWord>& words) {
  std::vector<std::string> values;
  if (has_list(argument)) {
    values = items_of(stated.value);
    if (values.empty()) return;
  } else if (argument.arity == ArgumentValueCount::kOne) {
    values = {argument_word(stated.value)};
  }
  words.push_back({std::string(argument.flag), stated.line});
  for (std::string& value : values) words.push_back({std::move(value), stated.line});
}

/// Returns the Megatron-LM argument that a name in the log's block of arguments means; nullopt if
/// there is none.
std::optional<MegatronArgument> argument_called(const std::string& name, std::string_view value) {
  const std::string field = name == "layernorm_epsilon" ? "norm_epsilon" : name;
  if (const auto truth = parse_boolean_word(value); truth && is_switched(field)) {
    if (const auto found = argument_of_field(field, *truth ? "true" : "false")) return found;
  }
  for (const std::string_view head : {"--", "--no-", "--disable-"}) {
    if (const auto exact = find_megatron_argument(std::string(head) + name)) return exact;
    if (const auto exact = find_megatron_argument(std::string(head) + dashed_flag(name).substr(2)))
      return exact;
  }
  return argument_of_field(field, value);
}

/// True if an argument is named like a field, without a leading "no".
bool called_by_name(const MegatronArgument& argument, const std::string& name) {
  return argument.flag == dashed_flag(name) || argument.flag == "--" + name;
}

void add_printed(const StatedMegatronArgument& stated, std::vector<ShellWord>& words) {
  if (stated.value == "None" || stated.value.empty()) return;
  const auto argument = argument_called(stated.name, stated.value);
  if (!argument) return;
  const auto truth = parse_boolean_word(stated.value);
  if (argument->arity == ArgumentValueCount::kNone) {
    if (argument->field != stated.name) {
      if (truth != true || !called_by_name(*argument, stated.name)) return;
    } else if (truth && (*truth ? "true" : "false") != argument->value) {
      return;
    }
  }
  add_words(*argument, stated, words);
}

/// Reads a line "name ...... value" after a launcher's prefix of `prefix` characters; nullopt for
/// other lines.
std::optional<StatedMegatronArgument> printed_value(std::string_view text, std::size_t prefix,
                                                    std::uint32_t line) {
  std::size_t begin = 0;
  std::size_t end = text.find(" .");
  std::size_t value = std::string_view::npos;
  if (end != std::string_view::npos) {
    const std::size_t gap = text.substr(0, end).rfind("  ");
    if (gap == std::string_view::npos) return std::nullopt;
    begin = gap + 2;
    value = text.find_first_not_of('.', end + 1);
  } else {
    begin = text.find_first_not_of(' ', std::min(prefix, text.size()));
    if (begin == std::string_view::npos) return std::nullopt;
    end = value = text.find("  ", begin);
  }
  if (value == std::string_view::npos || text[value] != ' ' || end <= begin) return std::nullopt;
  const std::string_view name = text.substr(begin, end - begin);
  static constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  if (name.find_first_not_of(kLetters) != std::string_view::npos) return std::nullopt;
  value = text.find_first_not_of(' ', value);
  const std::size_t last = text.find_last_not_of(" \r");
  if (value == std::string_view::npos) return StatedMegatronArgument{std::string(name), "", line};
  return StatedMegatronArgument{std::string(name),
                                std::string(text.substr(value, last + 1 - value)), line};
}

StatedMegatronArguments read_printed(const SourceFile& file) {
  StatedMegatronArguments stated;
  std::uint32_t line = 0;
  std::size_t prefix = 0;
  bool inside = false;
  for (std::size_t at = 0; at < file.text.size();) {
    const std::size_t end = std::min(file.text.find('\n', at), file.text.size());
    const std::string_view text = std::string_view(file.text).substr(at, end - at);
    at = end + 1;
    ++line;
    if (inside && text.find(kBlockEnds) != std::string_view::npos) break;
    if (text.find(kBlockBegins) != std::string_view::npos) {
      inside = true;
      prefix = text.find('-');
    } else if (inside) {
      if (const auto value = printed_value(text, prefix, line)) stated.values.push_back(*value);
    }
  }
  if (stated.values.empty()) {
    fail_input(
        fmt::format("{}: the block of arguments has no lines 'name ..... value'", file.name));
  }
  for (const StatedMegatronArgument& each : stated.values) {
    if (each.name == "world_size") {
      const IntegerParseResult ranks = read_integer(each.value);
      if (ranks.status == IntegerParseResult::IntegerParseStatus::kGood && ranks.value > 0) {
        stated.ranks = ranks.value;
      }
    }
    add_printed(each, stated.words);
  }
  return stated;
}

/// Replaces `${NAME}` in a text by the value of a setting `NAME=VALUE`.
std::string filled(std::string text, std::span<const std::string> settings) {
  for (const std::string& setting : settings) {
    const std::size_t end = std::min(setting.find('='), setting.size());
    const std::string place = "${" + setting.substr(0, end) + "}";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at)) {
      const std::string value = setting.substr(std::min(end + 1, setting.size()));
      text.replace(at, place.size(), value);
      at += value.size();
    }
  }
  return text;
}

/// Fails if an argument's value is only a variable that the user did not set. File names can stay
/// open.
void check_filled(const std::string& flag, const std::string& text, DocumentNode value,
                  std::span<const std::string> settings) {
  static constexpr std::string_view kFiles[] = {"tokenizer_model", "vocab_file", "merge_file"};
  const auto argument = find_megatron_argument(flag);
  if (!argument || argument->field.empty() || std::ranges::count(kFiles, argument->field) > 0)
    return;
  if (!text.starts_with("${") || text.find('}') != text.size() - 1) return;
  const std::string given = flag.substr(2) + "=";
  if (std::ranges::any_of(settings, [&](const auto& one) { return one.starts_with(given); }))
    return;
  value.fail(fmt::format("the file does not state it: --set {}=VALUE",
                         one_line_printable_text(text.substr(2, text.size() - 3))));
}

/// Adds one of `MODEL_ARGS`: true means an argument without words, false means that it is absent.
void add_configured(const std::string& flag, DocumentNode value,
                    std::span<const std::string> settings, std::vector<ShellWord>& words) {
  if (value.is_null()) return;
  const std::string text = value.is_scalar() ? filled(value.text(), settings) : "";
  check_filled(flag, text, value, settings);
  const auto truth = parse_boolean_word(text);
  if (truth == false) return;
  words.push_back({flag, value.source_line()});
  if (truth == true) return;
  if (value.is_sequence()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      words.push_back({value.at(i).text(), value.source_line()});
    return;
  }
  const auto argument = find_megatron_argument(flag);
  const bool listed = text.starts_with('[') && text.find_first_of(",*") == std::string::npos;
  if ((argument && has_list(*argument)) || listed) {
    for (std::string& item : items_of(text))
      words.push_back({std::move(item), value.source_line()});
  } else {
    words.push_back({text, value.source_line()});
  }
}

StatedMegatronArguments read_model_config(const SourceFile& file,
                                          std::span<const std::string> settings) {
  StatedMegatronArguments stated;
  const YamlJsonDocument document = YamlJsonDocument::parse(file.text, file.name);
  for (const auto& [flag, value] : document.root().get("MODEL_ARGS").mapping_members()) {
    add_configured(flag, value, settings, stated.words);
  }
  if (const auto variables = document.root().find("ENV_VARS"); variables && !variables->is_null()) {
    for (const auto& [name, value] : variables->mapping_members()) {
      if (value.is_scalar()) stated.environment[name] = {value.text(), value.source_line()};
    }
  }
  return stated;
}

bool is_printed(const SourceFile& file) { return file_contains_text(file, kBlockBegins); }

bool is_model_config(const SourceFile& file) {
  return file.text.starts_with("MODEL_ARGS:") || file_contains_text(file, "\nMODEL_ARGS:");
}

}  // namespace

std::optional<StatedMegatronArguments> read_logged_megatron_arguments(
    const SourceFile& file, std::span<const std::string> settings) {
  if (is_printed(file)) return read_printed(file);
  if (is_model_config(file)) return read_model_config(file, settings);
  return std::nullopt;
}

bool file_logs_megatron_arguments(const SourceFile& file) {
  return is_printed(file) || is_model_config(file);
}

void report_logged_megatron_arguments(const StatedMegatronArguments& stated,
                                      const std::string& name, ImportReport& report) {
  std::map<std::uint32_t, std::string> names;
  for (const StatedMegatronArgument& each : stated.values) names[each.line] = each.name;
  std::set<std::uint32_t> listed;
  const auto rename = [&](auto& settings) {
    for (auto& setting : settings) {
      const auto own = names.find(setting.line);
      if (own == names.end()) continue;
      setting.name = own->second;
      listed.insert(setting.line);
    }
  };
  rename(report.read);
  std::erase_if(report.not_read, [&](const SettingNotInPlan& one) {
    return names.contains(one.line) && one.matters == SettingImpact::kNo;
  });
  rename(report.not_read);
  for (const StatedMegatronArgument& each : stated.values) {
    if (listed.contains(each.line)) continue;
    const auto argument = argument_called(each.name, each.value);
    const std::string_view field = argument ? argument->field : std::string_view(each.name);
    const KnownSetting* known =
        find_known_setting(known_program_settings("megatron/settings"), field);
    const bool derived =
        find_known_setting(known_program_settings("megatron/printed"), each.name) != nullptr;
    if (known != nullptr && !known->field.empty()) {
      report.read.push_back({each.name, one_line_printable_text(each.value), name, each.line,
                             std::string(known->field)});
    } else if (!argument && known == nullptr && !derived && each.value != "None" &&
               each.value != "False") {
      report.not_read.push_back({one_line_printable_text(each.name),
                                 one_line_printable_text(each.value), name, each.line,
                                 SettingImpact::kMaybe, ""});
    }
  }
}

}  // namespace stepwright::framework_files
