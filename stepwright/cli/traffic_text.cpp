#include "stepwright/cli/traffic_text.h"

#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/traffic/traffic_json.h"

namespace stepwright::cli {
namespace {

std::string totals_text(const traffic::TrafficLedger& ledger) {
  TextTable table{.columns = {{"parallelism"},
                              {"calls", ColumnAlignment::kRight},
                              {"bytes sent", ColumnAlignment::kRight},
                              {"share", ColumnAlignment::kRight}},
                  .rows = {}};
  const auto schemes = traffic::traffic_totals_by_scheme(ledger);
  double sum = 0;
  for (const auto& [scheme, volume] : schemes) sum += volume.sent_bytes;
  for (const auto& [scheme, volume] : schemes) {
    table.rows.push_back({std::string(name_of(step::kSchemeNames, scheme)),
                          format_count(volume.count), format_bytes(volume.sent_bytes),
                          sum > 0 ? format_percent(volume.sent_bytes / sum) : "-"});
  }
  return format_text_table(table);
}

std::string messages_text(const traffic::TrafficLedger& ledger) {
  TextTable table{.columns = {{"parallelism"},
                              {"phase"},
                              {"operation"},
                              {"group"},
                              {"ranks", ColumnAlignment::kRight},
                              {"payload", ColumnAlignment::kRight},
                              {"calls", ColumnAlignment::kRight},
                              {"sent per call", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const traffic::TrafficLedgerRow& message : ledger.messages) {
    table.rows.push_back({std::string(name_of(step::kSchemeNames, message.scheme)),
                          std::string(traffic::traffic_phase_name(message.phase)),
                          std::string(name_of(step::kOperatorNames, message.operation)),
                          std::string(name_of(plan::kGroupNames, message.group)),
                          format_count(message.group_size),
                          format_bytes(static_cast<double>(message.payload_bytes)),
                          format_count(message.count), format_bytes(message.sent_bytes_per_rank)});
  }
  return format_text_table(table);
}

std::vector<std::string> link_row(const collective::DirectedLinkBytes& load) {
  return {load.name, format_count(load.units), format_bytes(load.busiest_bytes),
          format_count(load.busiest_unit), format_bytes(load.mean_bytes)};
}

}  // namespace

std::string traffic_text(const traffic::TrafficLedger& ledger, std::optional<std::int64_t> rank) {
  const std::string whose = rank ? fmt::format("rank {}", *rank) : "all ranks";
  if (ledger.messages.empty()) return fmt::format("No messages in a step of {}.\n", whose);
  return fmt::format("Messages of one step, {}\n\n{}\n{}", whose, totals_text(ledger),
                     messages_text(ledger));
}

std::string link_traffic_text(const collective::LinkLoads& links) {
  TextTable table{.columns = {{"link"},
                              {"links", ColumnAlignment::kRight},
                              {"busiest carries", ColumnAlignment::kRight},
                              {"number of it", ColumnAlignment::kRight},
                              {"mean carries", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const collective::DirectedLinkBytes& level : links.levels)
    table.rows.push_back(link_row(level));
  if (links.nics.units > 0) table.rows.push_back(link_row(links.nics));
  return "\nBytes that each link sends in one step, over all ranks\n\n" + format_text_table(table);
}

}  // namespace stepwright::cli
