#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"

namespace stepwright::validate {

/// The rows of a table of measurements that were measured on one machine.
struct MachineTableRows {
  /// Name of the machine, or path of its file; empty: other columns of each row identify it.
  std::string machine;
  CsvTable table;
};

/// Divides a table's rows by their machine, the column `cluster`. `profile`: machine of all rows
/// instead; empty: none. `says`: true if other columns can identify a row's machine; such rows come
/// under an empty name. Fails with `kInput` if no row has a machine.
std::vector<MachineTableRows> divide_rows_by_machine(const CsvTable& table,
                                                     const std::string& profile, bool says);

/// Returns the group of a message by its size, for error statistics: the power of ten, "from 1e6
/// B".
std::string message_size_decade(double payload_bytes);

/// Returns the index of the row that begins on line number `line` of the table's file.
std::size_t table_row_index_at_line(const CsvTable& table, std::size_t line);

}  // namespace stepwright::validate
