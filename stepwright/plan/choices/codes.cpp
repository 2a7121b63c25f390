#include "stepwright/plan/choices/codes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/modules.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {
namespace {

using Value = std::optional<std::string>;

/// The kind of text after a mark: none, a number, a word up to the next mark, or words up to
/// another mark.
enum class Follows : std::uint8_t { kNothing, kNumber, kWord, kWords };

/// Everything about one mark of plans' codes.
struct Row {
  std::string_view mark;
  Follows follows;
  bool begins;  ///< True if the mark follows a space; false: it follows the previous mark directly.
  std::string_view label;   ///< Name of the mark in a legend and in messages.
  std::string_view field;   ///< Field of a plan file that the mark states.
  std::string_view legend;  ///< Explanation of the mark, printed under a table of plans.
  std::string_view means;   ///< Meaning of the mark as a sentence, with {} in place of its value.
  /// Returns the plan's value for the mark; nullopt if the code leaves it out.
  Value (*write)(const Plan&);
  /// Converts a value to the words used in `means`; empty if it needs none; nullptr: the value is
  /// printed unchanged.
  Value (*say)(std::string_view value) = nullptr;
  /// Lists the allowed values, for messages.
  std::string (*values)() = nullptr;
};

Value number(std::int64_t value) { return std::to_string(value); }
Value degree(std::int64_t value) { return value > 1 ? number(value) : std::nullopt; }
Value said(bool there) { return there ? Value("") : std::nullopt; }

bool is_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Lists the names of a table, for a message.
template <class Names>
std::string listed(const Names& names) {
  std::vector<std::string_view> words;
  for (const auto& row : names) words.push_back(row.name);
  return fmt::format("{}", fmt::join(words, ", "));
}

template <class Names>
bool has(const Names& names, std::string_view word) {
  return std::ranges::any_of(names, [&](const auto& row) { return row.name == word; });
}

/// Splits a text into the words before and after the first `mark`; the second part is empty if
/// there is no mark.
std::pair<std::string_view, std::string_view> cut(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + mark.size())};
}

bool is_list(std::string_view text, std::string_view separator, bool (*is_one)(std::string_view)) {
  while (true) {
    const auto [one, rest] = cut(text, separator);
    if (!is_one(one)) return false;
    if (one.size() == text.size()) return true;
    text = rest;
  }
}

bool is_module(std::string_view word) { return has(kModuleNames, word); }

/// True if a text says which layers of a chunk are recomputed: "every 2", "first 3".
bool is_layer_choice(std::string_view text) {
  if (!text.starts_with("every ") && !text.starts_with("first ")) return false;
  const std::string_view number = text.substr(6);
  return is_number(number) && number != "0" && !number.starts_with('-');
}

/// True if `recompute_setting_text` can write this text for one position: "full", "every 2", "norm
/// + mlp every 2".
bool is_setting(std::string_view text) {
  if (text == "none" || text == "selective" || text == "full" || is_layer_choice(text)) return true;
  const std::size_t layers = std::min(text.find(" every "), text.find(" first "));
  if (layers != std::string_view::npos && !is_layer_choice(text.substr(layers + 1))) return false;
  return is_list(text.substr(0, layers), " + ", is_module);
}

bool is_stages(std::string_view text) {
  const auto [setting, stage] = cut(text, " on stage ");
  if (setting.size() < text.size()) return is_setting(setting) && is_number(stage);
  const auto [same, stages] = cut(text, " on stages ");
  const auto [first, last] = cut(stages, "-");
  return is_setting(same) && is_number(first) && is_number(last);
}

Value say_recompute(std::string_view text) {
  const auto [most, stages] = cut(text, ", ");
  const bool all = most.size() == text.size();
  if (!is_setting(most) || !(all || is_list(stages, ", ", is_stages))) return std::nullopt;
  if (text == "selective") return "the core of attention";
  if (text == "full") return "every layer, whole";
  if (text.starts_with("every ") && all) {
    return fmt::format("whole layers 0, {0}, 2 x {0}, ... of a chunk", text.substr(6));
  }
  if (text.starts_with("first ") && all) {
    return fmt::format("the first {} layers of a chunk, whole", text.substr(6));
  }
  return std::string(text);
}

Value say_schedule(std::string_view word) {
  const auto row =
      std::ranges::find(schedule::kScheduleRows, word, &schedule::PipelineScheduleKindRow::name);
  if (row == std::end(schedule::kScheduleRows)) return std::nullopt;
  return fmt::format("{}: {}", word, row->definition->text);
}

Value say_context(std::string_view word) {
  return has(kContextKindNames, word) ? Value(word) : std::nullopt;
}

Value say_sharding(std::string_view word) {
  const std::optional<Sharding> states = sharding_named_by_word(word);
  if (!states) return std::nullopt;
  std::vector<std::string> split;
  for (const auto& [what, spread] : {std::pair{"parameters", states->parameters},
                                     {"gradients", states->gradients},
                                     {"optimizer states", states->optimizer}}) {
    if (spread == StateShardingScope::kNone) continue;
    split.push_back(fmt::format("{} {}", what,
                                spread == StateShardingScope::kGlobal ? "over all" : "in groups"));
  }
  return split.empty() ? "nothing" : fmt::format("{}", fmt::join(split, ", "));
}

std::string sharding_values() {
  std::vector<std::string_view> names;
  for (const ShardingAlias& alias : kShardingAliases) names.push_back(alias.name);
  return fmt::format("three letters of N, I and G, or {}", fmt::join(names, ", "));
}

/// Codes of the messages that a plan can leave exposed.
std::vector<std::string_view> exposed_codes() {
  std::vector<std::string_view> codes;
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    if (row.exposed) codes.push_back(row.code);
  }
  return codes;
}

Value exposed_code(const Plan& plan) {
  std::vector<std::string_view> codes;
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    if (row.exposed && row.exposed(plan)) codes.push_back(row.code);
  }
  return codes.empty() ? std::nullopt : Value(fmt::format("{}", fmt::join(codes, ",")));
}

Value say_exposed(std::string_view text) {
  const auto is_code = [](std::string_view one) {
    const std::vector<std::string_view> codes = exposed_codes();
    return std::ranges::find(codes, one) != codes.end();
  };
  if (!is_list(text, ",", is_code)) return std::nullopt;
  std::vector<std::string_view> kinds;
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    if (fmt::format(",{},", text).find(fmt::format(",{},", row.code)) != std::string::npos) {
      kinds.push_back(row.text);
    }
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

bool is_usual(schedule::PipelineScheduleKind kind) {
  return kind == schedule::PipelineScheduleKind::kOneForwardOneBackward ||
         kind == schedule::PipelineScheduleKind::kInterleaved;
}

Value say_share(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  const std::string_view number = text.substr(0, text.size() - 1);
  const bool good = is_list(number, ".", is_number) && !number.starts_with('0');
  return good ? Value(text) : std::nullopt;
}

Value group_code(const Plan& plan, std::int64_t group, std::int64_t least) {
  const bool says = plan.sharding.uses(StateShardingScope::kInner) && group >= least;
  return says ? number(group) : std::nullopt;
}

/// The rows in the order of codes, without the rows of flags.
constexpr Row kRowsWithoutFlags[] = {
    {"tp", Follows::kNumber, true, "tpN", "parallel.tensor", "tensor parallel",
     "Each layer is cut over {} GPUs (tensor parallel).",
     [](const Plan& plan) { return degree(plan.parallel.tensor); }},
    {"+sp", Follows::kNothing, false, "+sp", "sequence_parallel", "sequence parallel",
     "Between the products that are cut, these GPUs share out the tokens (sequence parallel).",
     [](const Plan& plan) { return said(plan.sequence_parallel); }},
    {":keep", Follows::kNothing, false, ":keep", "tensor_input",
     "inputs that it gathers are kept for the backward",
     "Inputs that it gathers are kept for the backward, not gathered again.",
     [](const Plan& plan) {
       return said(plan.sequence_parallel && plan.tensor_input == GatheredInputPolicy::kKeep);
     }},
    {"cp", Follows::kNumber, true, "cpN", "parallel.context", "context parallel",
     "Each sequence is cut over {} GPUs (context parallel).",
     [](const Plan& plan) { return degree(plan.parallel.context); }},
    {":", Follows::kWord, false, ":KIND", "context_kind", "how parts of a sequence meet, else ring",
     "Parts of a sequence attend to each other by {}.",
     [](const Plan& plan) {
       const bool ring = plan.context_kind == ContextKind::kRing;
       return ring ? std::nullopt : Value(name_of(kContextKindNames, plan.context_kind));
     },
     say_context, [] { return listed(kContextKindNames); }},
    {"ep", Follows::kNumber, true, "epN", "parallel.expert", "expert parallel",
     "The experts of a layer are spread over {} GPUs (expert parallel).",
     [](const Plan& plan) { return degree(plan.parallel.expert); }},
    {"etp", Follows::kNumber, true, "etpN", "parallel.expert_tensor", "expert-tensor parallel",
     "Each expert is cut over {} GPUs (expert-tensor parallel).",
     [](const Plan& plan) { return degree(plan.parallel.expert_tensor); }},
    {"pp", Follows::kNumber, true, "ppN", "parallel.pipeline", "pipeline positions",
     "The layers are cut over {} positions of a pipeline.",
     [](const Plan& plan) { return degree(plan.parallel.pipeline); }},
    {"x", Follows::kNumber, false, "xN", "schedule.chunks", "chunks of layers on each",
     "Each position has {} chunks of layers.",
     [](const Plan& plan) { return degree(plan.schedule.chunks); }},
    {":", Follows::kWord, false, ":SCHEDULE", "schedule.kind",
     "their schedule, else 1f1b or interleaved", "The positions work by {}.",
     [](const Plan& plan) {
       const schedule::PipelineScheduleKind kind = plan.schedule.kind;
       return is_usual(kind) ? std::nullopt : Value(name_of(schedule::kScheduleKindNames, kind));
     },
     say_schedule, [] { return listed(schedule::kScheduleKindNames); }},
    {"+", Follows::kNumber, false, "+N", "schedule.strands", "strands",
     "In {} strands a forward and a backward run beside each other, operator by operator.",
     [](const Plan& plan) { return degree(plan.schedule.strands); }},
    {":uneven", Follows::kNothing, false, ":uneven", "layers", "layers split as the plan lists",
     "Chunks have as many layers as the plan lists, not all the same.",
     [](const Plan& plan) { return said(!plan.layers.empty()); }},
    {"dp", Follows::kNumber, true, "dpN", "parallel.data", "data parallel",
     "The sequences of a step are dealt out to {} groups of GPUs (data parallel).",
     [](const Plan& plan) { return number(plan.parallel.data); }},
    {"mb", Follows::kNumber, true, "mbN", "micro_batch", "sequences of a micro-batch",
     "Sequences go through the layers {} at a time (a micro-batch).",
     [](const Plan& plan) { return number(plan.micro_batch); }},
    {"", Follows::kWord, true, "NIG", "sharding.states",
     "parameters, gradients, optimizer states whole (N), split in groups (I) or over all (G): ddp "
     "NNN, zero1 NNG, zero2 NGG, zero3 GGG, hsdp III",
     "Of what data-parallel GPUs would hold alike, these are split: {}.",
     [](const Plan& plan) { return Value(sharding_name(plan.sharding)); }, say_sharding,
     sharding_values},
    {"/", Follows::kNumber, false, "/N", "sharding.group", "GPUs of a group",
     "GPUs that hold one copy together are groups of {}.",
     [](const Plan& plan) { return group_code(plan, plan.sharding.group, 1); }},
    {"/", Follows::kNumber, false, "/N/N", "sharding.expert_group",
     "the second of a group of experts", "For experts these are groups of {}.",
     [](const Plan& plan) { return group_code(plan, plan.sharding.expert_group, 2); }},
    {"recompute:", Follows::kWords, true, "recompute:WHAT", "recompute",
     "computed again in the backward", "Computed again in the backward: {}.",
     [](const Plan& plan) {
       return plan.recompute == ActivationRecomputation()
                  ? std::nullopt
                  : Value(recompute_setting_text(plan.recompute));
     },
     say_recompute,
     [] {
       return "selective, full, every N, first N, or " + listed(kModuleNames) +
              " joined by +; others on some positions: none, full on stages 0-1";
     }},
    {"offload:", Follows::kWords, true, "offload:N%", "offload.optimizer",
     "share of the optimizer on the host",
     "{} of the optimizer lies on the host, which updates that part.",
     [](const Plan& plan) {
       const double share = plan.offload.optimizer;
       return share > 0 ? Value(fmt::format("{:.3g}%", 100 * share)) : std::nullopt;
     },
     say_share, [] { return std::string("above 0% to 100%"); }},
    {"host:", Follows::kWords, true, "host:MODULES", "offload.activations",
     "modules whose activations lie on the host",
     "Until its backward the host holds what these modules of a layer keep: {}.",
     [](const Plan& plan) {
       const OffloadModuleSet modules = plan.offload.activations;
       return modules.empty()
                  ? std::nullopt
                  : Value(fmt::format("{}",
                                      fmt::join(offloaded_activation_kind_names(modules), ",")));
     },
     [](std::string_view text) {
       const bool good =
           is_list(text, ",", [](std::string_view one) { return has(kOffloadModuleNames, one); });
       return good ? Value(text) : std::nullopt;
     },
     [] { return listed(kOffloadModuleNames); }},
    {"exposed:", Follows::kWords, true, "exposed:KINDS", "overlap",
     "messages that do not run beside computation",
     "These messages do not run beside computation: those of {}.", exposed_code, say_exposed,
     [] { return fmt::format("{}", fmt::join(exposed_codes(), ", ")); }}};

/// Returns all rows in the order of codes; the rows of flags precede activations on the host.
const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = [] {
    std::vector<Row> all(std::begin(kRowsWithoutFlags), std::end(kRowsWithoutFlags));
    auto place = std::ranges::find(all, "host:", &Row::mark);
    each_flag([&](const BooleanChoiceWords& words, std::string_view field, auto is_on) {
      const Row row{.mark = words.mark,
                    .follows = Follows::kNothing,
                    .begins = true,
                    .label = words.mark,
                    .field = field,
                    .legend = words.words,
                    .means = words.means,
                    .write = [](const Plan& plan) { return said(decltype(is_on)()(plan)); }};
      place = all.insert(place, row) + 1;
    });
    return all;
  }();
  return kRows;
}

/// Returns the first row that passes a test; null if none does.
template <class Test>
const Row* find_row(Test test) {
  const auto found = std::ranges::find_if(rows(), test);
  return found == rows().end() ? nullptr : &*found;
}

constexpr std::string_view kExample = "tp8+sp pp4 dp2 mb1 zero1";

/// Set of the marks that codes contain.
using Marks = std::bitset<64>;

/// Returns a plan's code; adds the marks in it to `marks`.
std::string written(const Plan& plan, Marks& marks) {
  std::string code;
  bool begun = false;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    const Row& row = rows()[i];
    if (!row.begins && !begun) continue;
    const Value value = row.write(plan);
    if (row.begins) begun = value.has_value();
    if (!value) continue;
    marks.set(i);
    code += fmt::format("{}{}{}", row.begins && !code.empty() ? " " : "", row.mark, *value);
  }
  return code;
}

/// Lists the marks that are allowed in place of a wrong one, with their values if these are words.
std::string labels(std::span<const Row> rows) {
  std::vector<std::string> list;
  for (const Row& row : rows) {
    list.push_back(row.values ? fmt::format("{} ({})", row.label, row.values())
                              : std::string(row.label));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

/// Reads a code, mark by mark.
class CodeReader {
 public:
  explicit CodeReader(std::string_view code) : code_(code), left_(code) {}

  std::vector<PlanCodeMark> run() {
    for (skip_spaces(); !left_.empty(); skip_spaces()) read_word();
    if (marks_.empty()) {
      fail_input(fmt::format("the code of a plan is empty; one is \"{}\"", kExample));
    }
    return std::move(marks_);
  }

 private:
  void skip_spaces() { left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size())); }

  /// Reads a word of a code: a mark and those directly after it. A mark that usually follows
  /// another may also be alone, without its plus.
  void read_word() {
    const Row* row = find_row([&](const Row& one) { return take(one, one.mark); });
    if (row == nullptr) {
      row = find_row([&](const Row& one) {
        return one.mark.size() > 1 && one.mark.front() == '+' && take(one, one.mark.substr(1));
      });
    }
    if (row == nullptr) fail_unknown();
    const Row* const last = rows().data() + rows().size();
    const Row* end = std::find_if(row + 1, last, [](const Row& r) { return r.begins; });
    for (const Row* next = row + 1; next != end; ++next) take(*next, next->mark);
    if (!left_.empty() && left_.front() != ' ') {
      fail_at({row + 1, end}, fmt::format("after {} stands the unknown part", marks_.back().code),
              word());
    }
  }

  /// Reads a mark if it comes next; returns whether it did.
  bool take(const Row& row, std::string_view mark) {
    if (!left_.starts_with(mark)) return false;
    const std::string_view rest = left_.substr(mark.size());
    const std::string_view value = rest.substr(0, length(row.follows, rest));
    if (row.follows == Follows::kNumber && !is_number(value)) return false;
    const Value words = row.say ? row.say(value) : Value(value);
    if (!words) return false;
    const auto at = static_cast<std::size_t>(&row - rows().data());
    if (seen_.test(at)) {
      fail_input(fmt::format("the plan code \"{}\" states {} twice: state it once",
                             one_line_printable_text(code_), row.field));
    }
    seen_.set(at);
    marks_.push_back({.code = fmt::format("{}{}", mark, value),
                      .field = row.field,
                      .means = fmt::format(fmt::runtime(row.means), *words)});
    left_.remove_prefix(mark.size() + value.size());
    return true;
  }

  static std::size_t length(Follows follows, std::string_view rest) {
    switch (follows) {
      case Follows::kNothing: return 0;
      case Follows::kNumber: return std::min(rest.find_first_not_of("0123456789"), rest.size());
      case Follows::kWord: return std::min(rest.find_first_of(" :+/"), rest.size());
      case Follows::kWords: break;
    }
    // The value's words end at the next mark that none of the words starts with.
    std::size_t end = rest.size();
    for (const Row& row : rows()) {
      const bool ends = row.follows == Follows::kWords ||
                        (row.follows == Follows::kNothing && row.begins && !row.mark.empty());
      if (ends) end = std::min(end, rest.find(fmt::format(" {}", row.mark)));
    }
    return end;
  }

  [[noreturn]] void fail_unknown() const {
    const Row* meant = find_row([&](const Row& row) {
      return row.begins && !row.mark.empty() && left_.starts_with(row.mark);
    });
    if (meant == nullptr) fail_at(rows(), "unknown part", word());
    const std::size_t mark = meant->mark.size();
    const std::string_view whole =
        left_.substr(0, mark + length(meant->follows, left_.substr(mark)));
    fail_at({meant, 1}, "unknown part",
            std::max(word(), whole, [](auto a, auto b) { return a.size() < b.size(); }));
  }

  [[nodiscard]] std::string_view word() const { return left_.substr(0, left_.find(' ')); }

  [[noreturn]] void fail_at(std::span<const Row> rows, const std::string& what,
                            std::string_view found) const {
    fail_input(fmt::format("the plan code \"{}\": {} \"{}\"; allowed here: {}",
                           one_line_printable_text(code_), what, one_line_printable_text(found),
                           rows.empty() ? "nothing" : labels(rows)));
  }

  std::string_view code_;
  std::string_view left_;
  Marks seen_;
  std::vector<PlanCodeMark> marks_;
};

/// Wraps a text into lines of at most 100 columns.
std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = 100;
  std::string lines;
  std::string_view left = text;
  while (left.size() > kWidth) {
    const std::size_t at = left.rfind(' ', kWidth);
    lines += fmt::format("{}\n", left.substr(0, at));
    left.remove_prefix(at + 1);
  }
  return lines + fmt::format("{}\n", left);
}

}  // namespace

std::string short_plan_code(const Plan& plan) {
  Marks marks;
  return written(plan, marks);
}

std::vector<PlanCodeMark> explain_plan_code(std::string_view code) {
  return CodeReader(code).run();
}

std::string legend_of_plan_codes(const std::vector<Plan>& plans) {
  Marks marks;
  for (const Plan& plan : plans) static_cast<void>(written(plan, marks));
  if (marks.none()) return "";
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    const Row& row = rows()[i];
    if (marks.test(i)) entries.push_back(fmt::format("{} {}", row.label, row.legend));
  }
  return wrapped(fmt::format("Codes: {}. `stepwright explain CODE` explains a code.",
                             fmt::join(entries, "; ")));
}

std::string sharding_name(const Sharding& sharding) {
  const std::string word = sharding_letters(sharding);
  for (const ShardingAlias& alias : kShardingAliases) {
    if (alias.states == word && alias.note.empty()) return std::string(alias.name);
  }
  return word;
}

}  // namespace stepwright::plan
