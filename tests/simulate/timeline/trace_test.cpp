#include "stepwright/simulate/timeline/trace.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "stepwright/simulate/timeline/engine.h"
#include "tests/simulate/timeline/random_program.h"

namespace stepwright::simulate {
namespace {

using nlohmann::json;

std::string trace(const Draft& draft, const TraceOptions& options) {
  const Simulation result =
      simulate::simulate_priced_program(draft.program, draft.prices, {}, true);
  std::ostringstream out;
  write_chrome_trace(draft.program, result, options, out);
  return out.str();
}

/// Returns the slices of a category, in the order of the file.
std::vector<json> slices(const json& trace, const std::string& category) {
  std::vector<json> found;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["cat"] == category) found.push_back(event);
  }
  return found;
}

Draft two_messages() {
  Line other = reduction(3e-6);
  other.link = cost::LinkClass::kInside;
  Draft draft = single({{computation(1.5e-6), tensor_message(1e-6, {0}), other}});
  step::Operator& reduce = draft.program.templates[0].operators[2];
  reduce.payload_elements = 1024;
  reduce.dtype = DType::kFp32;
  reduce.repeats = 3;
  draft.program.group_sizes[static_cast<int>(plan::CommunicatorKind::kDataContext)] = 8;
  draft.program.ranks = 16;
  draft.program.stages[0].sequences[0].items[0].layer = 5;
  return draft;
}

TEST(Trace, NamesStagesAndStreams) {
  const json parsed = json::parse(trace(two_messages(), {}));
  EXPECT_EQ(parsed["displayTimeUnit"], "ms");
  std::set<std::string> names;
  for (const json& event : parsed["traceEvents"]) {
    if (event["ph"] == "M" && event["args"].contains("name")) names.insert(event["args"]["name"]);
  }
  EXPECT_EQ(names, (std::set<std::string>{"stage 0 (ranks 0-15)", "compute", "tensor", "reduce"}));
}

TEST(Trace, TakesTheNamesOfRanksThatItIsGiven) {
  EXPECT_NE(trace(two_messages(), {.ranks = {"ranks 0, 8"}}).find("stage 0 (ranks 0, 8)"),
            std::string::npos);
}

TEST(Trace, WritesMicrosecondsAndKinetosArguments) {
  const json parsed = json::parse(trace(two_messages(), {}));
  const std::vector<json> events = slices(parsed, "kernel");
  ASSERT_EQ(events.size(), 3U);
  const json& reduce = events[1];
  EXPECT_EQ(reduce["name"], "reduction");
  EXPECT_EQ(reduce["ts"], 0.0);
  EXPECT_EQ(reduce["dur"], 4.0);
  const json expected = {{"phase", "forward"},
                         {"Collective name", "_reduce_scatter_base"},
                         {"dtype", "Float"},
                         {"In msg nelems", 1024},
                         {"Out msg nelems", 128},
                         {"Group size", 8},
                         {"Process Group Description", "data-context"},
                         {"scheme", "data"},
                         {"repeats", 3},
                         {"layer", 5},
                         {"micro_batch", 0}};
  EXPECT_EQ(reduce["args"], expected);
  EXPECT_EQ(events[2]["ts"], 1.5);
  EXPECT_EQ(events[0]["args"], (json{{"phase", "forward"}, {"layer", 5}, {"micro_batch", 0}}));
}

TEST(Trace, MessagesThatShareALinkStandInRowsOfTheirOwn) {
  const Draft draft = two_messages();
  const json parsed = json::parse(trace(draft, {.ranks = {}, .prices = &draft.prices}));
  const std::vector<json> links = slices(parsed, "link");
  ASSERT_EQ(links.size(), 2U);
  EXPECT_NE(links[0]["tid"], links[1]["tid"]);
  EXPECT_FALSE(links[0]["args"].contains("Collective name"));
}

TEST(Trace, SlicesOfARowNestOrFollow) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Draft draft = random_program(seed);
    const json parsed = json::parse(trace(draft, {.ranks = {}, .prices = &draft.prices}));
    std::map<std::pair<int, int>, double> end_us;
    for (const json& event : parsed["traceEvents"]) {
      if (event["ph"] != "X") continue;
      double& end = end_us[{event["pid"], event["tid"]}];
      const double start = event["ts"];
      const double length = event["dur"];
      if (length > 0) {
        EXPECT_GE(start, end - 1e-6);
      }
      end = std::max(end, start + length);
    }
  }
}

TEST(Trace, EqualInputsGiveEqualBytes) {
  const Draft draft = random_program(3);
  EXPECT_EQ(trace(draft, {}), trace(draft, {}));
}

TEST(Trace, WithoutEventsItIsEmptyButWellFormed) {
  std::ostringstream out;
  write_chrome_trace(step::StepProgram{}, Simulation{}, {}, out);
  EXPECT_TRUE(json::parse(out.str())["traceEvents"].empty());
}

}  // namespace
}  // namespace stepwright::simulate
