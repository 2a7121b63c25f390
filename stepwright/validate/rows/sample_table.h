#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"

namespace stepwright::validate {

/// The rows of a table that were measured on one machine.
struct MachineTable {
  std::string machine;  ///< Name or file of the machine; empty: other columns of the rows tell it.
  CsvTable table;
};

/// Divides a table by its column `cluster`. `profile`: machine of all rows instead; empty: none.
/// `says`: true if other columns of the rows tell their machine. Rows without a machine come under
/// an empty name. Fails with `kInput` if no row tells a machine.
std::vector<MachineTable> by_machine_name(const CsvTable& table, const std::string& profile,
                                          bool says);

/// Returns the power of ten of a payload, as a group of errors: "from 1e6 B".
std::string payload_class(double payload_bytes);

/// Returns the index of the row that begins on a line.
std::size_t row_on_line(const CsvTable& table, std::size_t line);

}  // namespace stepwright::validate
