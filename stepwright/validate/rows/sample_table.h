#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"

namespace stepwright::validate {

/// Rows of a table that are of one machine.
struct MachineTable {
  std::string machine;  ///< Name or file of the machine; empty: as the rows say.
  CsvTable table;
};

/// Divides a table by its column `cluster`; `profile`, when given, counts for all rows instead.
/// `says`: the rows tell their machine by other columns. Rows that tell none at all come under an
/// empty name. Fails with `kInput` when no row of the table tells one.
std::vector<MachineTable> by_machine_name(const CsvTable& table, const std::string& profile,
                                          bool says);

/// The class of a payload by its power of ten, for groups of errors ("from 1e6 B").
std::string payload_class(double payload_bytes);

/// The place of the row that begins on a line.
std::size_t row_on_line(const CsvTable& table, std::size_t line);

}  // namespace stepwright::validate
