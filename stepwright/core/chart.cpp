#include "stepwright/core/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepwright {
namespace {

constexpr double kWidth = 640, kHeight = 360;
constexpr double kLeft = 76, kRight = 170, kTop = 36, kBottom = 52;
constexpr double kInnerWidth = kWidth - kLeft - kRight;
constexpr double kInnerHeight = kHeight - kTop - kBottom;
/// Okabe and Ito's colours, told apart by everybody; black last.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#7f7f7f", "#000000"};

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

/// Maps the values of one axis to 0..1 and knows where its ticks are.
class Range {
 public:
  explicit Range(const ChartAxis& axis) : axis_(axis) {}

  [[nodiscard]] bool takes(double value) const {
    return std::isfinite(value) && (axis_.scale == Scale::kLinear || value > 0);
  }
  void include(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  /// Rounds the ends outwards, after everything was included.
  void settle() {
    if (low_ > high_) low_ = high_ = 1;
    if (axis_.scale == Scale::kLinear) {
      low_ = std::min(low_, 0.0);
      if (high_ <= low_) high_ = low_ + 1;
      const double rough = (high_ - low_) / 5;
      const double decade = std::pow(10, std::floor(std::log10(rough)));
      step_ = decade * (rough > 5 * decade ? 10 : rough > 2 * decade ? 5 : rough > decade ? 2 : 1);
      low_ = step_ * std::floor(low_ / step_);
      high_ = step_ * std::ceil(high_ / step_);
    } else if (high_ <= low_) {
      low_ /= 2;
      high_ *= 2;
    }
  }
  [[nodiscard]] double share(double value) const {
    if (axis_.scale == Scale::kLinear) return (value - low_) / (high_ - low_);
    return std::log(value / low_) / std::log(high_ / low_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> values;
    if (axis_.scale == Scale::kLinear) {
      const auto steps = static_cast<int>(std::lround((high_ - low_) / step_));
      for (int i = 0; i <= steps; ++i) values.push_back(low_ + i * step_);
      return values;
    }
    const double octaves = std::log2(high_ / low_);
    const double factor = std::exp2(std::max(1.0, std::ceil(octaves / 7)));
    const auto steps = static_cast<int>(std::log(high_ * 1.001 / low_) / std::log(factor));
    for (int i = 0; i <= steps; ++i) values.push_back(low_ * std::pow(factor, i));
    return values;
  }
  [[nodiscard]] std::string label(double value) const {
    if (axis_.label != nullptr) return axis_.label(value);
    return std::abs(value) < step_ / 1e6 ? "0" : fmt::format("{:.4g}", value);
  }

 private:
  const ChartAxis& axis_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
  double step_ = 0;
};

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart), x_(chart.x), y_(chart.y) {
    for (const ChartSeries& series : chart.series) {
      for (const ChartPoint& point : series.points) {
        if (!drawn(point)) continue;
        x_.include(point.x);
        y_.include(point.y);
      }
    }
    x_.settle();
    y_.settle();
  }

  std::string svg() {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        kWidth, kHeight);
    text(kLeft, 20, "start", chart_.title, " font-size=\"14\" font-weight=\"bold\"");
    draw_axes();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw(chart_.series[i], i);
    return out_ + "</svg>\n";
  }

 private:
  [[nodiscard]] bool drawn(const ChartPoint& point) const {
    return x_.takes(point.x) && y_.takes(point.y);
  }
  [[nodiscard]] double across(double x) const { return kLeft + kInnerWidth * x_.share(x); }
  [[nodiscard]] double down(double y) const { return kTop + kInnerHeight * (1 - y_.share(y)); }

  void text(double x, double y, const char* anchor, const std::string& words,
            const char* more = "") {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                        anchor, more, escaped(words));
  }
  void line(double x1, double y1, double x2, double y2, const char* colour) {
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1,
        x2, y2, colour);
  }

  void draw_axes() {
    for (const double tick : y_.ticks()) {
      line(kLeft, down(tick), kLeft + kInnerWidth, down(tick), "#dddddd");
      text(kLeft - 6, down(tick) + 4, "end", y_.label(tick));
    }
    for (const double tick : x_.ticks()) {
      line(across(tick), kTop + kInnerHeight, across(tick), kTop + kInnerHeight + 4, "#444444");
      text(across(tick), kTop + kInnerHeight + 18, "middle", x_.label(tick));
    }
    line(kLeft, kTop + kInnerHeight, kLeft + kInnerWidth, kTop + kInnerHeight, "#444444");
    text(kLeft + kInnerWidth / 2, kHeight - 12, "middle", chart_.x.title);
    out_ += fmt::format(
        "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        kTop + kInnerHeight / 2, escaped(chart_.y.title));
  }

  void draw(const ChartSeries& series, std::size_t index) {
    const char* colour = kColours[index % std::size(kColours)];
    std::string corners;
    for (const ChartPoint& point : series.points) {
      if (!drawn(point)) continue;
      corners += fmt::format("{:.1f},{:.1f} ", across(point.x), down(point.y));
      out_ += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
          across(point.x), down(point.y), colour, series.scattered ? 0.5 : 1.0);
    }
    if (!series.scattered && !corners.empty()) {
      corners.pop_back();
      out_ += fmt::format(
          "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{}/>\n", corners,
          colour, series.dashed ? " stroke-dasharray=\"6 3\"" : "");
    }
    const double y = kTop + 8 + 18 * static_cast<double>(index);
    const double x = kLeft + kInnerWidth + 14;
    draw_mark(series, {x, y - 4}, colour);
    text(x + 18, y + 2, "start", series.name);
  }

  /// The mark of a legend, from its upper left corner.
  void draw_mark(const ChartSeries& series, const ChartPoint& at, const char* colour) {
    if (!series.dashed) {
      out_ +=
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"4\" fill=\"{}\"/>\n",
                      at.x, at.y, colour);
      return;
    }
    out_ += fmt::format(
        "<path d=\"M{:.1f} {:.1f}h12\" stroke=\"{}\" stroke-width=\"4\" stroke-dasharray=\"4\"/>\n",
        at.x, at.y + 2, colour);
  }

  const Chart& chart_;
  Range x_;
  Range y_;
  std::string out_;
};

}  // namespace

std::string to_svg(const Chart& chart) { return Drawing(chart).svg(); }

std::string to_html(const std::string& title, const std::vector<Chart>& charts) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta "
      "charset=\"utf-8\"><title>{0}</title></head>\n"
      "<body>\n<h1>{0}</h1>\n",
      escaped(title));
  for (const Chart& chart : charts) page += to_svg(chart);
  return page + "</body>\n</html>\n";
}

}  // namespace stepwright
