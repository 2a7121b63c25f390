#include "stepwright/cli/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"

namespace stepwright::cli {
namespace {

/// The most characters of a drawn line.
constexpr std::size_t kWidth = 96;
constexpr char kIdle = '.';

char letter(const schedule::PipelineScheduleTurn& turn) {
  if (turn.beside) return 'P';
  switch (turn.part.direction) {
    case schedule::Direction::kForward: return 'F';
    case schedule::Direction::kBackward: return 'B';
    case schedule::Direction::kDataGradient: return 'D';
    case schedule::Direction::kWeightGradient: return 'W';
    case schedule::Direction::kUpdate: return '?';
    default: return 'V';  // a pass over the vocabulary
  }
}

double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

std::string name_text(const study::PipelineScheduleSimulation& play) {
  const std::string name(name_of(schedule::kScheduleKindNames, play.schedule.kind));
  return play.schedule.chunks == 1 ? name
                                   : fmt::format("{}, {} chunks", name, play.schedule.chunks);
}

std::string table_text(const std::vector<study::PipelineScheduleSimulation>& plays) {
  TextTable table{.columns = {{"schedule"},
                              {"step", ColumnAlignment::kRight},
                              {"most idle", ColumnAlignment::kRight},
                              {"of the step", ColumnAlignment::kRight},
                              {"most activations", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const study::PipelineScheduleSimulation& play : plays) {
    if (!play.refused.empty()) continue;
    const double idle_s = largest(play.idle_s);
    const double share = play.makespan_s > 0 ? idle_s / play.makespan_s : 0;
    table.rows.push_back({name_text(play), format_time(play.makespan_s), format_time(idle_s),
                          format_percent(share),
                          fmt::format("{:g}", largest(play.peak_activations))});
  }
  return format_text_table(table);
}

/// Returns the line of a stage, one character for each `step_s`: the work at the middle of that
/// time.
std::string line(const study::PipelineScheduleSimulation& play, std::size_t position,
                 double step_s) {
  const auto width = static_cast<std::size_t>(std::llround(play.makespan_s / step_s));
  std::string text(std::min(width, kWidth), kIdle);
  const std::vector<double>& ends = play.ends_s[position];
  for (std::size_t i = 0; i < text.size(); ++i) {
    const double now = (static_cast<double>(i) + 0.5) * step_s;
    const auto turn = static_cast<std::size_t>(std::ranges::upper_bound(ends, now) - ends.begin());
    if (turn == ends.size() || play.starts_s[position][turn] > now) continue;
    text[i] = letter(play.turns[position][turn]);
  }
  return text;
}

/// Returns the time of one character: the shortest turn, or more if the line would be too wide.
double step_of(const study::PipelineScheduleSimulation& play) {
  double shortest = play.makespan_s;
  for (std::size_t p = 0; p < play.turns.size(); ++p) {
    for (std::size_t i = 0; i < play.turns[p].size(); ++i) {
      const double turn_s = play.ends_s[p][i] - play.starts_s[p][i];
      if (turn_s > 0) shortest = std::min(shortest, turn_s);
    }
  }
  return std::max(shortest, play.makespan_s / static_cast<double>(kWidth));
}

std::string drawing(const study::PipelineScheduleSimulation& play) {
  std::string text = fmt::format("\n{}\n", name_text(play));
  if (play.makespan_s <= 0) return text;
  const double step_s = step_of(play);
  for (std::size_t p = 0; p < play.turns.size(); ++p) {
    text += fmt::format("  stage {:>3}  {}\n", p, line(play, p, step_s));
  }
  return text;
}

}  // namespace

std::string simulated_schedules_text(const std::vector<study::PipelineScheduleSimulation>& plays) {
  std::string text = table_text(plays);
  for (const study::PipelineScheduleSimulation& play : plays) {
    if (play.refused.empty()) continue;
    text += fmt::format("\n{} cannot run: {}\n", name_text(play), play.refused);
  }
  text +=
      "\nActivations: of one micro-batch through a whole stage.\n"
      "Drawn: F forward, B backward, D data gradients, W weight gradients, P a forward beside a\n"
      "backward, . idle; one character is the shortest turn or a 96th of the step.\n";
  for (const study::PipelineScheduleSimulation& play : plays) {
    if (play.refused.empty()) text += drawing(play);
  }
  return text;
}

}  // namespace stepwright::cli
