#include "stepwright/interleave/timeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace stepwright::interleave {
namespace {

struct TimelineRow {
  std::string_view name;
  cost::LinkClass link;
  char fill;
};
constexpr TimelineRow kTimelineRows[] = {{"computation", cost::LinkClass::kNone, '-'},
                                         {"node's links", cost::LinkClass::kInside, '='},
                                         {"network", cost::LinkClass::kNetwork, '='}};
constexpr std::size_t kNameColumns = 13;

/// The content of a row in a block: its ids, and the share of the block that they take.
struct Cell {
  std::string ids;
  double share = 0;
};
using BlockCells = std::array<Cell, std::size(kTimelineRows)>;

class CellWriter {
 public:
  CellWriter(const ForwardBackwardOperators& pair, const cost::OverlapSlowdownFactors& contention)
      : contention_(contention) {
    for (const Strand* strand : {&pair.forward, &pair.backward}) {
      for (const InterleavedOperator& op : *strand) operators_[op.id] = &op;
    }
  }

  [[nodiscard]] BlockCells cells(const InterleavedBlock& block) const {
    BlockCells cells;
    LinkSeconds sent{};
    for (const std::string& id : block.communication) {
      const InterleavedOperator& op =
          *operators_.at(id.ends_with('\'') ? id.substr(0, id.size() - 1) : id);
      const auto link = static_cast<std::size_t>(op.link);
      sent[link] = op.seconds;
      cells[link] = {id, op.seconds / block.seconds};
    }
    std::vector<std::string> ids = block.forward;
    ids.insert(ids.end(), block.backward.begin(), block.backward.end());
    const double hidden_s = compute_seconds_beside_collectives(sent, contention_);
    const double share = hidden_s > block.compute_s
                             ? block.compute_s / hidden_s * std::ranges::max(sent) / block.seconds
                             : 1;
    cells.front() = {fmt::format("{}", fmt::join(ids, " ")), ids.empty() ? 0 : share};
    return cells;
  }

 private:
  const cost::OverlapSlowdownFactors& contention_;
  std::map<std::string, const InterleavedOperator*> operators_;
};

std::size_t width_of(const BlockCells& cells, double columns) {
  auto width = static_cast<std::size_t>(std::lround(columns));
  for (const Cell& cell : cells) width = std::max(width, cell.ids.size());
  return std::max<std::size_t>(width, 1);
}

std::string drawn(const Cell& cell, std::size_t width, char fill) {
  const auto end = static_cast<std::size_t>(std::lround(cell.share * static_cast<double>(width)));
  std::string text = cell.ids;
  if (!text.empty() && text.size() < end) text += ' ';
  if (text.size() < end) text.append(end - text.size(), fill);
  text.append(width - text.size(), ' ');
  return text + '|';
}

}  // namespace

std::string interleaving_timeline_text(const ForwardBackwardOperators& pair,
                                       const LayerInterleaving& interleaving,
                                       const cost::OverlapSlowdownFactors& contention,
                                       std::size_t columns) {
  const CellWriter writer(pair, contention);
  std::array<bool, std::size(kTimelineRows)> used{true};
  for (const Strand* strand : {&pair.forward, &pair.backward}) {
    for (const InterleavedOperator& op : *strand) used[static_cast<std::size_t>(op.link)] = true;
  }
  const std::size_t room = columns - kNameColumns;
  const double bars = static_cast<double>(interleaving.blocks.size()) + 1;
  const double columns_per_s =
      std::max(0.0, static_cast<double>(room) - bars) / interleaving.interleaved_s;
  std::string text;
  std::array<std::string, std::size(kTimelineRows)> lines;
  const auto end_line = [&] {
    for (std::size_t row = 0; row < lines.size(); ++row) {
      if (!used[row]) continue;
      text += fmt::format("{:<{}}{}\n", kTimelineRows[row].name, kNameColumns, lines[row]);
    }
    lines = {};
  };
  for (const InterleavedBlock& block : interleaving.blocks) {
    const BlockCells cells = writer.cells(block);
    const std::size_t width = width_of(cells, block.seconds * columns_per_s);
    if (!lines.front().empty() && lines.front().size() + width + 1 > room) {
      end_line();
      text += '\n';
    }
    for (std::size_t row = 0; row < lines.size(); ++row) {
      if (lines[row].empty()) lines[row] = "|";
      lines[row] += drawn(cells[row], width, kTimelineRows[row].fill);
    }
  }
  end_line();
  return text;
}

}  // namespace stepwright::interleave
