#include "stepwright/framework_files/megatron/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/megatron/arguments.h"
#include "stepwright/framework_files/megatron/pattern.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright::framework_files {
namespace {

bool there_in(const MegatronArgument& flag, std::string_view release) {
  if (!flag.from.empty() && plan::is_earlier_release(release, flag.from)) return false;
  return flag.before.empty() || plan::is_earlier_release(release, flag.before);
}

std::string list_text(const DocumentTree& list, std::string_view between) {
  std::vector<std::string> words;
  for (const DocumentTree& item : list.items) words.push_back(item.text);
  return fmt::format("{}", fmt::join(words, between));
}

std::string value_text(const MegatronArgument& flag, const DocumentTree& value) {
  if (value.kind != DocumentTree::TreeValueKind::kSequence) return quoted_for_shell(value.text);
  if (flag.arity == ArgumentValueCount::kOne) return in_shell_quotes(number_list_expression(value));
  std::vector<std::string> words;
  for (const DocumentTree& item : value.items) words.push_back(quoted_for_shell(item.text));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string_view undashed(std::string_view flag) {
  return flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
}

std::vector<std::string_view> undashed(std::vector<std::string_view> flags) {
  for (std::string_view& flag : flags) flag = undashed(flag);
  return flags;
}

DocumentTree placed(DocumentTree tree, std::uint32_t line) {
  tree.line = line;
  tree.column = 1;
  return tree;
}

DocumentTree word_tree(const ShellWord& word) {
  if (word.text.find('[') != std::string::npos) {
    if (const auto list = parse_number_list_expression(word.text)) {
      DocumentTree tree = DocumentTree::empty_flow_sequence();
      for (const std::string& item : *list)
        tree.add(placed(DocumentTree::make_scalar(item, false), word.line));
      return placed(tree, word.line);
    }
  }
  return placed(DocumentTree::make_scalar(without_digit_underscores(word.text), false), word.line);
}

/// True for "-5" and "-.5", which argparse takes for values.
bool is_negative_word(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789";
  if (text.size() < 2 || text.front() != '-') return false;
  const std::string_view rest = text.substr(1);
  const std::size_t point = rest.find('.');
  const std::string_view whole = rest.substr(0, point);
  if (whole.find_first_not_of(kDigits) != std::string_view::npos) return false;
  if (point == std::string_view::npos) return true;
  const std::string_view decimals = rest.substr(point + 1);
  return !decimals.empty() && decimals.find_first_not_of(kDigits) == std::string_view::npos;
}

/// True if argparse takes a word for an argument, not for a value.
bool is_argument_word(const ShellWord& word) {
  const std::string_view text = word.text;
  return text.size() > 1 && text.front() == '-' && !is_negative_word(text) &&
         (text.find(' ') == std::string_view::npos || text.find('=') < text.find(' '));
}

/// Collects the fields that arguments set. The last of repeated arguments counts; two arguments
/// that set a field differently fail.
class FieldsOfFlags {
 public:
  explicit FieldsOfFlags(const std::string& name) : name_(name) {}

  void set(const MegatronArgument& flag, std::uint32_t line, const DocumentTree& value,
           bool replace) {
    std::string text = value.text;
    if (value.kind == DocumentTree::TreeValueKind::kSequence) text = list_text(value, " ");
    const auto [known, fresh] =
        said_.try_emplace(std::string(flag.field), Said{text, flag.flag, line});
    Said& said = known->second;
    const bool other = !fresh && said.flag != flag.flag;
    if (other && flag.yields) return;
    if (other && !replace && said.text != text && !find_megatron_argument(said.flag)->yields) {
      fail_input(fmt::format("{}:{}: {} says {} {}, {} in line {} says {}", name_, line, flag.flag,
                             flag.field, one_line_printable_text(text), said.flag, said.line,
                             one_line_printable_text(said.text)));
    }
    said = Said{text, flag.flag, line};
    arguments_.fields.set(flag.field, value);
  }
  /// Removes and reports an argument that has no effect because the field `needed` is not set.
  void drop_without(std::string_view flag, std::string_view needed, ImportReport& report) {
    const std::string_view field = find_megatron_argument(flag)->field;
    const auto known = said_.find(field);
    if (known == said_.end() || known->second.flag != flag || said_.contains(needed)) return;
    report.not_read.push_back({std::string(known->second.flag),
                               one_line_printable_text(known->second.text), name_,
                               known->second.line, SettingImpact::kNo, ""});
    said_.erase(known);
    arguments_.fields.set(field, DocumentTree::make_scalar("null", false));
  }
  /// Removes the field `num_moe_experts` if it is 1, which means a dense MLP (`--num-experts 1` of
  /// Megatron-DeepSpeed).
  void drop_one_expert() {
    const auto known = said_.find("num_moe_experts");
    if (known == said_.end() || known->second.text != "1") return;
    said_.erase(known);
    arguments_.fields.set("num_moe_experts", DocumentTree::make_scalar("null", false));
  }
  /// Removes the value that a switch (an argument without value) has set in its field.
  void unset(const MegatronArgument& flag) {
    const auto known = said_.find(flag.field);
    if (known == said_.end() || known->second.text != flag.value) return;
    said_.erase(known);
    arguments_.fields.set(flag.field, DocumentTree::make_scalar("null", false));
  }
  MegatronArgumentFields take() {
    for (const auto& [field, said] : said_) arguments_.flags.emplace(field, said.flag);
    return std::move(arguments_);
  }

 private:
  struct Said {
    std::string text;
    std::string_view flag;
    std::uint32_t line;
  };
  const std::string& name_;
  std::map<std::string, Said, std::less<>> said_;
  MegatronArgumentFields arguments_;
};

std::string values_text(Words words) {
  std::vector<std::string_view> texts;
  for (const ShellWord& word : words) texts.push_back(word.text);
  return one_line_printable_text(fmt::format("{}", fmt::join(texts, " ")));
}

/// Reads the words of a command, argument by argument.
class ArgumentReader {
 public:
  ArgumentReader(Words words, const std::string& name, bool replace, FieldsOfFlags& fields,
                 ImportReport& report)
      : words_(words), name_(name), replace_(replace), fields_(fields), report_(report) {}

  void read() {
    while (at_ < words_.size()) {
      ShellWord word = words_[at_++];
      if (!is_argument_word(word)) continue;
      values_.clear();
      const std::size_t equals = word.text.find('=');
      const bool inlined = equals != std::string::npos;
      if (inlined) {
        values_.push_back({word.text.substr(equals + 1), word.line});
        word.text.resize(equals);
      }
      if (const auto argument = matched(word)) {
        take(*argument, word, inlined);
      } else {
        leave_unknown(word, inlined);
      }
    }
  }

 private:
  /// Returns the argument that a word names, in full or as an abbreviation; nullopt if it names
  /// none.
  std::optional<MegatronArgument> matched(const ShellWord& word) {
    if (const auto exact = find_megatron_argument(word.text)) return exact;
    if (!word.text.starts_with("--") || word.text.size() == 2) return std::nullopt;
    const auto names = megatron_arguments_with_prefix(word.text);
    if (names.size() != 1) return std::nullopt;
    // The word can be a switch of a fork, such as `--moe-aux-loss`, with the same beginning.
    const auto longer = find_megatron_argument(names.front());
    return longer && is_switch_here(*longer) ? std::nullopt : longer;
  }

  /// True if an argument that takes a value is followed by none.
  [[nodiscard]] bool is_switch_here(const MegatronArgument& argument) const {
    if (argument.arity == ArgumentValueCount::kNone || argument.arity == ArgumentValueCount::kAny)
      return false;
    return values_.empty() && (at_ == words_.size() || is_argument_word(words_[at_]));
  }

  void collect(std::size_t most) {
    while (values_.size() < most && at_ < words_.size() && !is_argument_word(words_[at_])) {
      values_.push_back(words_[at_++]);
    }
  }

  void take(const MegatronArgument& argument, const ShellWord& word, bool inlined) {
    constexpr std::size_t kAll = SIZE_MAX;
    const bool listed =
        argument.arity == ArgumentValueCount::kSome || argument.arity == ArgumentValueCount::kAny;
    if (argument.arity == ArgumentValueCount::kNone) {
      if (inlined && !replace_) {
        fail_input(fmt::format("{}:{}: {} takes no value; it is given '{}'", name_, word.line,
                               argument.flag, one_line_printable_text(values_.front().text)));
      }
    } else if (!inlined) {
      collect(listed ? kAll : argument.arity == ArgumentValueCount::kThree ? 3 : 1);
    }
    const std::size_t least =
        argument.arity == ArgumentValueCount::kThree ? 3
        : argument.arity == ArgumentValueCount::kOne || argument.arity == ArgumentValueCount::kSome
            ? 1
            : 0;
    if (values_.size() < least) {
      fail_input(fmt::format("{}:{}: {} needs {}", name_, word.line, argument.flag,
                             least == 1 ? "a value" : "three values"));
    }
    if (argument.field.empty()) {
      report_.not_read.push_back({std::string(argument.flag), values_text(values_), name_,
                                  word.line, SettingImpact::kNo, ""});
    } else if (argument.arity == ArgumentValueCount::kNone) {
      take_switch(argument, word);
    } else if (argument.arity == ArgumentValueCount::kOne) {
      fields_.set(argument, word.line, word_tree(values_.front()), replace_);
      if (!inlined) list_more(argument, word);
    } else {
      DocumentTree list = placed(DocumentTree::empty_flow_sequence(), word.line);
      for (const ShellWord& value : values_) list.add(word_tree(value));
      fields_.set(argument, word.line, list, replace_);
    }
  }

  /// Reports further values after the one that an argument takes: in Megatron-DeepSpeed, layers can
  /// have different numbers of experts (`--num-experts 32 64`); elsewhere argparse refuses such
  /// values.
  void list_more(const MegatronArgument& argument, const ShellWord& word) {
    collect(SIZE_MAX);
    const auto& first = values_.front().text;
    if (std::ranges::all_of(values_, [&](const ShellWord& one) { return one.text == first; })) {
      return;
    }
    report_.not_read.push_back({std::string(argument.flag), values_text(values_), name_, word.line,
                                SettingImpact::kYes, "all values but the first"});
  }

  /// Reads an argument without words; with `replace_`, a truth value can follow it.
  void take_switch(const MegatronArgument& argument, const ShellWord& word) {
    const bool off = !values_.empty() && values_.front().text == "false";
    if (!values_.empty() && !off && values_.front().text != "true") {
      fail_input(fmt::format("{}: {} must be true or false; it is '{}'", name_, argument.flag,
                             one_line_printable_text(values_.front().text)));
    }
    if (off) return fields_.unset(argument);
    fields_.set(argument, word.line,
                placed(DocumentTree::make_scalar(std::string(argument.value), false), word.line),
                replace_);
  }

  void leave_unknown(const ShellWord& word, bool inlined) {
    if (!inlined) collect(SIZE_MAX);
    std::string why;
    const auto names = megatron_arguments_with_prefix(word.text);
    constexpr std::size_t kMostNamed = 4;
    if (!names.empty() && word.text.size() > 2) {
      why = fmt::format("could be {}{}",
                        fmt::join(std::span(names).first(std::min(names.size(), kMostNamed)), ", "),
                        names.size() > kMostNamed ? ", ..." : "");
    } else if (const auto near = guess(undashed(word.text))) {
      why = fmt::format("did you mean --{}?", *near);
    } else if (word.text.size() > 2) {
      why = "no argument of Megatron-LM: a fork's own, and what it changes is not known";
    }
    report_.not_read.push_back({.name = one_line_printable_text(word.text),
                                .value = values_text(values_),
                                .file = name_,
                                .line = word.line,
                                .matters = SettingImpact::kMaybe,
                                .why = why,
                                .is_unknown_setting = word.text.size() > 2});
  }

  [[nodiscard]] std::optional<std::string_view> guess(std::string_view word) {
    if (!report_.count_similar_name_search()) return std::nullopt;
    return nearest_known_word(word, undashed(megatron_arguments_with_prefix("")));
  }

  Words words_;
  std::size_t at_ = 0;
  std::vector<ShellWord> values_;
  const std::string& name_;
  bool replace_;
  FieldsOfFlags& fields_;
  ImportReport& report_;
};

/// Returns the argument that a setting `NAME=VALUE` names, with underscores or dashes; nullopt if
/// it names none.
std::optional<ShellWord> as_argument(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) return std::nullopt;
  std::string name = setting.substr(0, equals);
  name.erase(0, std::min(name.size(), name.find_first_not_of('-')));
  for (const bool dashes : {false, true}) {
    if (dashes) std::ranges::replace(name, '_', '-');
    if (find_megatron_argument("--" + name))
      return ShellWord{"--" + name + setting.substr(equals), 0};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> megatron_argument_texts(const DocumentTree& fields,
                                                 std::string_view release) {
  std::vector<std::string> texts;
  std::vector<std::string_view> written;
  for (const MegatronArgument& flag : megatron_arguments()) {
    const DocumentTree* value = fields.find(flag.field);
    if (value == nullptr || !there_in(flag, release)) continue;
    if (flag.arity == ArgumentValueCount::kNone && value->text != flag.value) continue;
    if (std::ranges::find(written, flag.field) != written.end()) continue;
    written.push_back(flag.field);
    // After an equals sign a value that begins with a dash is not taken for an argument.
    const char between = value->text.starts_with('-') ? '=' : ' ';
    texts.push_back(flag.arity == ArgumentValueCount::kNone
                        ? std::string(flag.flag)
                        : fmt::format("{}{}{}", flag.flag, between, value_text(flag, *value)));
  }
  return texts;
}

bool is_megatron_argument_setting(const std::string& setting) {
  return as_argument(setting).has_value();
}

MegatronArgumentFields read_megatron_arguments(Words words, const std::string& name,
                                               std::span<const std::string> settings,
                                               bool last_counts, ImportReport& report) {
  FieldsOfFlags fields(name);
  ArgumentReader(words, name, last_counts, fields, report).read();
  static const std::string kGiven = "--set";
  for (const std::string& setting : settings) {
    const auto word = as_argument(setting);
    if (word) ArgumentReader({&*word, 1}, kGiven, true, fields, report).read();
  }
  // core_transformer_config_from_args reads it only if the switch is set.
  fields.drop_without("--num-query-groups", "group_query_attention", report);
  fields.drop_one_expert();
  return fields.take();
}

}  // namespace stepwright::framework_files
