#include "stepwright/framework_files/rules/rule.h"

#include "stepwright/core/scalar.h"
#include "stepwright/framework_files/draft/tables.h"

namespace stepwright::framework_files {
namespace {

/// Converts a text of a settings table to the kind of value, switch or count, that a plan field
/// has.
Plain plain_of(std::string_view word, const Plain& kind) {
  if (std::holds_alternative<bool>(kind)) return parse_boolean_word(word).value();
  return read_integer(word).value;
}

void read_row(const KnownSetting& row, const FrameworkSettingsReader& fields,
              const KnownJobFacts& known, plan::Plan& plan) {
  const Plain kind = read_plan_switch_or_count(plan, row.field).value();
  const Plain usual = plain_of(row.usual.text_for_framework(known.framework.name), kind);
  const bool* flag = std::get_if<bool>(&usual);
  write_plan_switch_or_count(plan, row.field,
                             flag != nullptr
                                 ? Plain(fields.flag(row.name, *flag))
                                 : Plain(fields.integer(row.name, std::get<std::int64_t>(usual))));
}

/// True if a field has a switch that is on, or a count above 1.
bool has(const plan::Plan& plan, std::string_view place) {
  const Plain value = read_plan_switch_or_count(plan, place).value();
  return value != Plain(false) && value != Plain(std::int64_t{1});
}

void write_row(const KnownSetting& row, const plan::PlannedJob& planned, DocumentTree& fields) {
  if (!row.when.empty() && !has(planned.plan, row.when)) return;
  const Plain value = read_plan_switch_or_count(planned.plan, row.field).value();
  if (!row.always && value == plain_of(row.usual.text_for_framework(kOtherFrameworksKey), value))
    return;
  std::visit([&](auto plain) { fields.set(row.name, plain); }, value);
}

}  // namespace

SettingRuleReadResult read_settings_by_rule(const SettingTranslationRule& rule,
                                            const FrameworkSettingsReader& fields,
                                            const KnownJobFacts& known, PartialPlan settled) {
  SettingRuleReadResult reading{std::move(settled)};
  for (const std::string_view key : rule.rows) {
    read_row(find_setting_row(rule.table, key), fields, known, reading.plan);
  }
  if (rule.read != nullptr) rule.read(fields, known, reading);
  return reading;
}

void write_settings_by_rule(const SettingTranslationRule& rule, const plan::PlannedJob& planned,
                            std::string_view release, DocumentTree& fields) {
  for (const std::string_view key : rule.rows) {
    write_row(find_setting_row(rule.table, key), planned, fields);
  }
  if (rule.write != nullptr) rule.write(planned, release, fields);
}

}  // namespace stepwright::framework_files
