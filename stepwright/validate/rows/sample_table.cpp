#include "stepwright/validate/rows/sample_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stepwright/core/error.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

std::vector<MachineTableRows> divide_rows_by_machine(const CsvTable& table,
                                                     const std::string& profile, bool says) {
  const auto column = table.column("cluster");
  if (!profile.empty() || !column) {
    if (profile.empty() && !says) {
      fail_input(
          fmt::format("{}: the rows name no machine; add --profile NAME, such as "
                      "a100_sxm4_80g_perlmutter, or a column `cluster`",
                      table.name));
    }
    return {{profile, table}};
  }
  std::map<std::string, CsvTable> tables;
  for (const CsvRow& row : table.rows) {
    const std::string name = cluster_named_by_row(table, row);
    CsvTable& of_name =
        tables.try_emplace(name, CsvTable{table.name, table.header, {}}).first->second;
    of_name.rows.push_back(row);
  }
  if (!says && tables.size() == 1 && tables.begin()->first.empty()) {
    return divide_rows_by_machine({table.name, {}, {}}, profile, says);
  }
  std::vector<MachineTableRows> divided;
  for (auto& [name, of_name] : tables) divided.push_back({name, std::move(of_name)});
  return divided;
}

std::string message_size_decade(double payload_bytes) {
  for (const double from : {1e9, 1e8, 1e7, 1e6, 1e5, 1e4}) {
    if (payload_bytes >= from) return fmt::format("from 1e{:.0f} B", std::log10(from));
  }
  return "from 0 B";
}

std::size_t table_row_index_at_line(const CsvTable& table, std::size_t line) {
  const auto found = std::ranges::lower_bound(table.rows, line, {}, &CsvRow::line);
  return static_cast<std::size_t>(found - table.rows.begin());
}

}  // namespace stepwright::validate
