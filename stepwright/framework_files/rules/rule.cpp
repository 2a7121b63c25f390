#include "stepwright/framework_files/rules/rule.h"

namespace stepwright::framework_files {
namespace {

Plain value_of(const Row& row, const Fields& fields) {
  if (const bool* usual = std::get_if<bool>(&row.usual)) return fields.flag(row.key, *usual);
  return fields.integer(row.key, std::get<std::int64_t>(row.usual));
}

void write_row(const Row& row, const plan::PlannedJob& planned, Tree& fields) {
  if (row.where != nullptr && !row.where(planned)) return;
  const Plain value = plain_at(planned.plan, row.place).value();
  if (row.write == Write::kUnlessUsual && value == row.usual) return;
  std::visit([&](auto plain) { fields.set(row.key, plain); }, value);
}

}  // namespace

Reading read_rule(const Rule& rule, const Fields& fields, const Known& known, Settled settled) {
  Reading reading{std::move(settled)};
  for (const Row& row : rule.rows) set_plain(reading.plan, row.place, value_of(row, fields));
  if (rule.read != nullptr) rule.read(fields, known, reading);
  return reading;
}

void write_rule(const Rule& rule, const plan::PlannedJob& planned, std::string_view release,
                Tree& fields) {
  for (const Row& row : rule.rows) write_row(row, planned, fields);
  if (rule.write != nullptr) rule.write(planned, release, fields);
}

}  // namespace stepwright::framework_files
