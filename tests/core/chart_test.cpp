#include "stepwright/core/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace stepwright {
namespace {

using testing::HasSubstr;
using testing::Not;

Chart small_chart() {
  return {.title = "a < b",
          .x = {.title = "size", .scale = Scale::kLogarithmic},
          .y = {.title = "rate"},
          .series = {{.name = "ring", .points = {{1, 0}, {2, 5}, {4, 10}}}}};
}

// The plane spans x 76..470 (394 wide) and y 308..36 (272 high); x is logarithmic from 1 to 4.
TEST(Chart, PutsPointsWhereTheirValuesAre) {
  const std::string svg = to_svg(small_chart());
  EXPECT_THAT(svg, HasSubstr("points=\"76.0,308.0 273.0,172.0 470.0,36.0\""));
  EXPECT_THAT(svg, HasSubstr(">ring<"));
  EXPECT_THAT(svg, HasSubstr(">a &lt; b<"));
}

TEST(Chart, LeavesOutWhatCannotBeDrawn) {
  Chart chart = small_chart();
  chart.series[0].points.push_back({0, 3});
  chart.series[0].points.push_back({2, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(to_svg(chart), to_svg(small_chart()));
}

TEST(Chart, DrawsScatteredPointsWithoutALine) {
  Chart chart = small_chart();
  chart.series[0].scattered = true;
  EXPECT_THAT(to_svg(chart), Not(HasSubstr("polyline")));
}

TEST(Chart, DashesWhatIsToBeDashed) {
  Chart chart = small_chart();
  EXPECT_THAT(to_svg(chart), Not(HasSubstr("dasharray")));
  chart.series[0].dashed = true;
  EXPECT_THAT(to_svg(chart), HasSubstr("stroke-dasharray"));
}

TEST(Chart, StandsWithoutAnyPoint) {
  EXPECT_THAT(to_svg({}), HasSubstr("</svg>"));
  EXPECT_THAT(to_svg({.series = {{.name = "one", .points = {{3, 3}}}}}), Not(HasSubstr("nan")));
}

TEST(Chart, WritesAPageWithEveryPicture) {
  const std::string page = to_html("study", {small_chart(), small_chart()});
  EXPECT_THAT(page, HasSubstr("<h1>study</h1>"));
  EXPECT_NE(page.find("<svg"), page.rfind("<svg"));
}

}  // namespace
}  // namespace stepwright
