#pragma once

#include <string>
#include <vector>

namespace stepwright {

enum class Scale { kLinear, kLogarithmic };

/// One axis of a chart. On a logarithmic one only values above 0 are drawn.
struct ChartAxis {
  std::string title;
  Scale scale = Scale::kLinear;
  std::string (*label)(double) = nullptr;  ///< Of a tick; nothing: the number itself.
};

struct ChartPoint {
  double x = 0;
  double y = 0;
};

/// Points under one name, joined by a line unless `scattered`.
struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
  bool scattered = false;
  bool dashed = false;
};

/// A picture of numbers.
struct Chart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
};

/// The chart as an SVG element that stands alone. Points that are not finite are left out; equal
/// charts give equal text.
std::string to_svg(const Chart& chart);

/// A page of HTML that stands alone, one picture after the other.
std::string to_html(const std::string& title, const std::vector<Chart>& charts);

}  // namespace stepwright
