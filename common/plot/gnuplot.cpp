// Writes the chart as a gnuplot script. All positions are computed here, in pixels of the canvas, so that texts avoid
// roofs, arrows and dots; gnuplot only draws.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/plot/captions.h"
#include "common/plot/frame.h"
#include "common/plot/labels.h"
#include "common/plot/plot.h"
#include "common/plot/style.h"
#include "common/plot/walk.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr double kWidth = 960, kHeight = 600;                       // of the canvas
constexpr double kLeft = 88, kRight = 32, kTop = 78, kBottom = 74;  // margins
constexpr double kFont = 13;
constexpr double kLineHeight = 16;
constexpr double kDotRadius = 6, kNewestRadius = 9;
constexpr std::size_t kManyDots = 6;  // more dots than this are drawn smaller
constexpr double kManyShrink = 0.75;
constexpr double kWholeRadius = 24, kLeastRadius = 3.5;  // of a dot with all of the time, and with hardly any
constexpr double kLibraryRadius = 12;                    // around the newest dot, if they meet
constexpr double kRim = 2.2;
constexpr double kPointSizeToPixels = 4.887;  // radius of a circle of point size 1 in gnuplot's svg at this font size
constexpr double kHead = 10;                  // length of an arrowhead
constexpr double kApart = 2.5;                // lines closer than this look like one line

// The points of the chart at one place, drawn as one dot.
struct Dot {
  PlotPoint shown;
  Pixel place;
  double radius = kDotRadius;
  bool starter = false, newest = false;
  int colour = 0;
  std::vector<std::string> labels;
};

enum class Align { left, center, right };

class Script {
 public:
  explicit Script(const Chart& chart)
      : chart_(with_drawn_roofs(chart)),
        walk_(drawn_walk(chart.walk)),
        frame_(frame_of(chart, walk_.points)),
        placer_({kLeft, kBottom}, {kWidth - kRight, kHeight - kTop}) {}

  std::string text(const std::string& output_name, const std::string& terminal) {
    find_dots();
    set_terminal(output_name, terminal);
    set_axes();
    add_curves();
    if (chart_.is_walk) add_arrows();
    avoid_dots();
    label_roofs();
    label_lines();
    label_goal();
    label_dots();
    add_titles();
    add_plot();
    return out_;
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  Pixel pixel(double ai, double flops_per_s) const {
    return {kLeft + frame_.x_share(ai) * (kWidth - kLeft - kRight),
            kBottom + frame_.y_share(flops_per_s) * (kHeight - kTop - kBottom)};
  }
  Pixel pixel(const Point& p) const { return pixel(p.ai, p.flops_per_s); }

  // Returns the angle of a memory roof, which rises one decade per decade.
  double roof_angle_deg() const {
    return std::atan2((kHeight - kTop - kBottom) / frame_.y_decades(), (kWidth - kLeft - kRight) / frame_.x_decades()) *
           180 / std::numbers::pi;
  }

  void find_dots() {
    for (std::size_t i = 0; i < walk_.points.size(); ++i) {
      const PlotPoint& point = walk_.points[i];
      const Pixel place = pixel(point.point);
      const auto same = std::find_if(dots_.begin(), dots_.end(), [&](const Dot& d) {
        return std::hypot(d.place.x - place.x, d.place.y - place.y) < 3;
      });
      Dot dot{.shown = point, .place = place, .labels = {}};
      dot.starter = chart_.is_walk && i == 0 && walk_.has_starter;
      dot.newest = chart_.is_walk && i + 1 == walk_.points.size();
      if (same != dots_.end()) {
        dot.labels = same->labels;
        dot.shown.time_share += same->shown.time_share;
        dots_.erase(same);
      }
      dot.labels.push_back(point.label);
      if (dot.newest && !dot.starter) dot.radius = kNewestRadius;
      if (walk_.points.size() > kManyDots) dot.radius *= kManyShrink;
      if (dot.shown.time_share > 0) dot.radius = std::max(kLeastRadius, kWholeRadius * std::sqrt(dot.shown.time_share));
      dots_.push_back(dot);
    }
    for (std::size_t i = 0; i < dots_.size(); ++i) {
      Dot& dot = dots_[i];
      const char* base = dot.shown.older ? kQuiet : dot.shown.accepted ? kGoal : dot.starter ? kQuiet : kWalk;
      const double age =
          chart_.is_walk ? static_cast<double>(dots_.size() - 1 - i) / static_cast<double>(dots_.size()) : 0;
      dot.colour = dot.newest || dot.starter ? rgb(base) : lighter(base, 0.5 * age);
    }
    if (!chart_.library) return;
    library_ = Dot{.shown = *chart_.library,
                   .place = pixel(chart_.library->point),
                   .radius = kLibraryRadius,
                   .labels = {chart_.library->label}};
  }

  void set_terminal(const std::string& output_name, const std::string& terminal) {
    line("# A roofline drawn by Roofwalk; gnuplot 5.4 or later turns it into {}.", quoted(output_name));
    line("set encoding utf8");
    if (terminal == "svg") {
      line("set terminal svg size {},{} dynamic noenhanced background rgb 'white' font 'sans-serif,{}' name 'roofline'",
           kWidth, kHeight, kFont);
    } else {
      // Twice the pixels, for high-resolution screens; fonts and lines are scaled, too.
      line(
          "set terminal {} size {},{} noenhanced background rgb 'white' font 'sans-serif,{}' fontscale 1.5 "
          "linewidth 2 pointscale 2.7",
          terminal, 2 * kWidth, 2 * kHeight, kFont);
    }
    line("set output {}", quoted("./" + output_name));
    line("set lmargin at screen {:.6f}", kLeft / kWidth);
    line("set rmargin at screen {:.6f}", 1 - kRight / kWidth);
    line("set bmargin at screen {:.6f}", kBottom / kHeight);
    line("set tmargin at screen {:.6f}", 1 - kTop / kHeight);
    line("unset key");
  }

  void set_axes() {
    line("set logscale xy");
    // Slightly wider, because gnuplot may drop a tick at the very edge due to rounding.
    line("set xrange [{:.8g}:{:.8g}]", frame_.x_low * 0.999999, frame_.x_high * 1.000001);
    line("set yrange [{:.8g}:{:.8g}]", frame_.y_low * 0.999999, frame_.y_high * 1.000001);
    line("set border 3 lc rgb '{}' lw 1", kQuiet);
    line("set grid xtics ytics lt 1 lc rgb '{}' lw 1", kGrid);
    line("set xtics nomirror out scale 0.8,0.4 textcolor rgb '{}' ({})", kInk,
         ticks(frame_.x_ticks(), frame_.x_high, number_text));
    line("set ytics nomirror out scale 0.8,0.4 textcolor rgb '{}' ({})", kInk,
         ticks(frame_.y_ticks(), frame_.y_high, [](double v) { return si_text(v, ""); }));
    const char* const work = chart_.is_of_useful_work ? "useful" : "executed";
    text_at({(kLeft + kWidth - kRight) / 2, 30},
            fmt::format("arithmetic intensity, {} {} / {} byte", work, unit().one, upper_case(chart_.level)),
            Align::center, kInk);
    text_at({14, (kBottom + kHeight - kTop) / 2}, fmt::format("{} {}", work, unit().per_second), Align::center, kInk,
            kFont, 90);
  }

  // Lists a labelled tick per decade, with small ticks between.
  template <class Text>
  static std::string ticks(const std::vector<double>& decades, double high, Text text) {
    std::string list;
    for (const double decade : decades) {
      list += fmt::format("{}{} {:.6g}", list.empty() ? "" : ", ", quoted(text(decade)), decade);
      for (int i = 2; i < 10 && i * decade < high; ++i) list += fmt::format(", '' {:.6g} 1", i * decade);
    }
    return list;
  }

  // ---- curves -------------------------------------------------------------------------------------------------

  void add_curves() {
    if (const auto outline = goal_outline(chart_, frame_)) {
      std::vector<Point> polygon = outline->upper;
      polygon.insert(polygon.end(), outline->lower.rbegin(), outline->lower.rend());
      block("goal", polygon);
      plots_.push_back(
          fmt::format("$goal using 1:2 with filledcurves closed fs solid 1 noborder fc rgb '{}'", kGoalFill));
    }
    if (chart_.algorithmic_ai) add_wall(*chart_.algorithmic_ai);
    const double knee = ridge(chart_);
    if (has_peak()) {
      block("ridge", {{knee, frame_.y_low}, {knee, peak(chart_)}});
      plots_.push_back(fmt::format("$ridge using 1:2 with lines dt 3 lw 1.5 lc rgb '{}'", kQuiet));
      avoid({knee, frame_.y_low}, {knee, peak(chart_)}, 3, 2);
    }

    // The data sheet's roofs first, then thin roofs, then the chart's own on top.
    add_promises();
    for (std::size_t i = chart_.roofs.compute.size(); i-- > 1;) {
      const double flops_per_s = chart_.roofs.compute[i].flops_per_s;
      add_roof(fmt::format("compute{}", i),
               {{flops_per_s / bandwidth(chart_), flops_per_s}, {frame_.x_high, flops_per_s}}, 1, "#444444");
    }
    for (const MemoryRoof& roof : chart_.roofs.memory) {
      if (roof.level != chart_.level) add_roof(roof.level, slanted(roof.bytes_per_s), 1.2, roof_style(roof.level).line);
    }
    if (has_peak()) add_peak(knee);
    add_roof(chart_.level, slanted(bandwidth(chart_)), 3, roof_style(chart_.level).line);
  }

  // Draws the flat roof: thin where only faster memory reaches it.
  void add_peak(double knee) {
    double first_knee = knee;
    for (const MemoryRoof& roof : chart_.roofs.memory)
      first_knee = std::min(first_knee, peak(chart_) / roof.bytes_per_s);
    if (first_knee < knee) add_roof("faster", {{first_knee, peak(chart_)}, {knee, peak(chart_)}}, 1.2, kInk);
    add_roof("peak", {{knee, peak(chart_)}, {frame_.x_high, peak(chart_)}}, 2.5, kInk);
  }

  bool has_peak() const { return !chart_.roofs.is_memory_only; }
  const UnitWords& unit() const { return words_of(chart_.roofs.unit); }

  // Returns a memory roof, from the frame's left or lower edge to a compute roof, or to the frame's right or upper edge
  // if there is none.
  std::vector<Point> slanted(double bytes_per_s, double flops_per_s) const {
    const double left = std::max(frame_.x_low, frame_.y_low / bytes_per_s);
    if (!has_peak()) flops_per_s = std::min(frame_.y_high, frame_.x_high * bytes_per_s);
    return {{left, left * bytes_per_s}, {flops_per_s / bytes_per_s, flops_per_s}};
  }
  std::vector<Point> slanted(double bytes_per_s) const { return slanted(bytes_per_s, peak(chart_)); }

  // Draws the data sheet's roofs, dashed and thin, if they are visibly apart from the drawn ones.
  void add_promises() {
    const auto add = [&](const std::string& name, const std::vector<Point>& ends, const char* colour) {
      block("promise_" + name, ends);
      plots_.push_back(fmt::format("$promise_{} using 1:2 with lines dt 2 lw 1 lc rgb '{}'", name, colour));
      has_promises_ = true;
    };
    const double drawn_top = has_peak() ? peak(chart_) : frame_.y_high;
    const double top =
        has_peak() ? std::max(drawn_top, chart_.roofs.compute.front().data_sheet_flops_per_s.value_or(0)) : drawn_top;
    double first_knee = frame_.x_high;
    for (const MemoryRoof& roof : chart_.roofs.memory) {
      const double slope = roof.data_sheet_bytes_per_s.value_or(roof.bytes_per_s);
      first_knee = std::min(first_knee, top / slope);
      if (gap(roof) >= kApart) add(roof.level, slanted(slope, top), roof_style(roof.level).line);
    }
    if (std::abs(pixel(1, top).y - pixel(1, drawn_top).y) >= kApart) {
      add("peak", {{first_knee, top}, {frame_.x_high, top}}, kInk);
    }
  }

  // Returns the distance from the drawn roof up to the data sheet's, in pixels perpendicular to both.
  double gap(const MemoryRoof& roof) const {
    const double up = pixel(1, roof.data_sheet_bytes_per_s.value_or(roof.bytes_per_s)).y - pixel(1, roof.bytes_per_s).y;
    return up * std::cos(roof_angle_deg() * std::numbers::pi / 180);
  }

  void add_roof(const std::string& name, const std::vector<Point>& ends, double width, const char* colour) {
    block("roof_" + name, ends);
    plots_.push_back(fmt::format("$roof_{} using 1:2 with lines lw {} lc rgb '{}'", name, width, colour));
    avoid(ends[0], ends[1], 4, 4);
  }

  // Draws a line up to the roof, hatched on the side that no kernel can reach.
  void add_wall(double ai) {
    const Pixel low = pixel(ai, frame_.y_low), high = pixel(ai, roof_at(chart_, ai));
    constexpr double kHatch = 7, kSpacing = 9;
    std::string data;
    for (double y = low.y; y + kHatch <= high.y; y += kSpacing) {
      const Point end = point({low.x + kHatch, y + kHatch});
      data +=
          fmt::format("{:.6g} {:.6g}\n{:.6g} {:.6g}\n\n", ai, point({low.x, y}).flops_per_s, end.ai, end.flops_per_s);
    }
    blocks_ += fmt::format("$hatch << EOD\n{}EOD\n", data);
    plots_.push_back(fmt::format("$hatch using 1:2 with lines lw 1 lc rgb '{}'", kWall));
    block("wall", {{ai, frame_.y_low}, {ai, roof_at(chart_, ai)}});
    plots_.push_back(fmt::format("$wall using 1:2 with lines lw 2 lc rgb '{}'", kWall));
    placer_.add_segment({low.x + 4, low.y}, {high.x + 4, high.y}, 7, 4);
  }

  Point point(Pixel p) const {
    const double x = (p.x - kLeft) / (kWidth - kLeft - kRight), y = (p.y - kBottom) / (kHeight - kTop - kBottom);
    return {.ai = frame_.x_low * std::pow(frame_.x_high / frame_.x_low, x),
            .flops_per_s = frame_.y_low * std::pow(frame_.y_high / frame_.y_low, y)};
  }

  void block(const std::string& name, const std::vector<Point>& points) {
    blocks_ += fmt::format("${} << EOD\n", name);
    for (const Point& p : points) blocks_ += fmt::format("{:.6g} {:.6g}\n", p.ai, p.flops_per_s);
    blocks_ += "EOD\n";
  }

  void avoid(const Point& from, const Point& to, double clearance, double weight) {
    placer_.add_segment(pixel(from), pixel(to), clearance, weight);
  }

  // ---- the walk -----------------------------------------------------------------------------------------------

  double radius_at(Pixel place) const {
    for (const Dot& dot : dots_) {
      if (std::hypot(dot.place.x - place.x, dot.place.y - place.y) < 3) return dot.radius;
    }
    return kDotRadius;
  }

  // Draws arrows from rim to rim; dots that touch get none.
  void add_arrows() {
    for (std::size_t i = 1; i < walk_.points.size(); ++i) {
      const Pixel from = pixel(walk_.points[i - 1].point), to = pixel(walk_.points[i].point);
      const double length = std::hypot(to.x - from.x, to.y - from.y);
      const double start = radius_at(from) + 1, end = radius_at(to) + 2;
      const double shaft = length - start - end;
      if (shaft < 4) continue;
      const auto along = [&](double d) {
        return Pixel{from.x + (to.x - from.x) * d / length, from.y + (to.y - from.y) * d / length};
      };
      const Point tail = point(along(start)), head = point(along(length - end));
      const double age = static_cast<double>(walk_.points.size() - 1 - i) / static_cast<double>(walk_.points.size());
      line(
          "set arrow from {:.6g},{:.6g} to {:.6g},{:.6g} head filled size screen {:.5f},18 fixed front lw {}{} lc rgb "
          "{}",
          tail.ai, tail.flops_per_s, head.ai, head.flops_per_s, std::min(kHead, 0.7 * shaft) / kWidth,
          i + 1 == walk_.points.size() ? 2.2 : 1.6, walk_.gap_before[i] ? " dt 2" : "",
          lighter(kWalk, 0.15 + 0.45 * age));
      placer_.add_segment(along(start), along(length - end), 4, 5);
    }
  }

  void avoid_dots() {
    for (const Dot& dot : dots_) placer_.add_disc(dot.place, dot.radius + 2, 20);
    if (library_) placer_.add_disc(library_->place, library_->radius + 2, 20);
  }

  // ---- texts --------------------------------------------------------------------------------------------------

  void text_at(Pixel p, const std::string& text, Align align, const std::string& colour, double size = kFont,
               double angle_deg = 0) {
    constexpr const char* kNames[] = {"left", "center", "right"};
    line("set label {} at screen {:.5f},{:.5f} {}{} font 'sans-serif,{}' textcolor rgb '{}' front", quoted(text),
         p.x / kWidth, p.y / kHeight, kNames[static_cast<int>(align)],
         angle_deg == 0 ? "" : fmt::format(" rotate by {:.2f}", angle_deg), size, colour);
  }

  // Writes the text at the first of several centres where it covers nothing, or else where it covers least.
  void text_in_free_place(const std::string& text, const std::vector<Pixel>& centers, const std::string& colour,
                          double size, double angle_deg = 0) {
    std::vector<TextBox> boxes;
    for (const Pixel& center : centers) boxes.push_back({center, text_width(text, size), size, angle_deg});
    text_at(centers[placer_.place(boxes)], text, Align::center, colour, size, angle_deg);
  }

  // Writes the names of roofs above their lines: memory roofs' along the line, near its left end; compute roofs' at the
  // right.
  void label_roofs() {
    const double angle_deg = roof_angle_deg();
    const double rise = kLineHeight * 0.72;
    const double radians = angle_deg * std::numbers::pi / 180;
    for (const MemoryRoof& roof : chart_.roofs.memory) {
      std::string text = upper_case(roof.level) + " " + si_text(roof.bytes_per_s, "B/s");
      if (roof.level == chart_.level) text += promise(roof.bytes_per_s, roof.data_sheet_bytes_per_s, "B/s");
      // If there is no room between the roof and the data sheet's line above it, the text goes above both.
      const double between = gap(roof);
      const double above = rise + (between >= kApart && between < kLineHeight * 1.25 ? between : 0);
      const std::vector<Point> ends = slanted(roof.bytes_per_s);
      const Pixel from = pixel(ends[0]), to = pixel(ends[1]);
      const double half = text_width(text, kFont) / 2 / std::hypot(to.x - from.x, to.y - from.y);
      std::vector<Pixel> centers;
      for (double share = half + 0.02; share < 1 - half || centers.empty(); share += 0.04) {
        centers.push_back({from.x + share * (to.x - from.x) - above * std::sin(radians),
                           from.y + share * (to.y - from.y) + above * std::cos(radians)});
      }
      text_in_free_place(text, centers, roof_style(roof.level).text, kFont, angle_deg);
    }
    for (std::size_t i = 0; i < chart_.roofs.compute.size(); ++i) {
      const ComputeRoof& roof = chart_.roofs.compute[i];
      const std::string text = upper_case(roof.name) + " " + si_text(roof.flops_per_s, unit().per_second) +
                               promise(roof.flops_per_s, roof.data_sheet_flops_per_s, unit().per_second);
      const double y = pixel(1, roof.flops_per_s).y + rise;
      const double right = kWidth - kRight - text_width(text, kFont) / 2;
      text_in_free_place(text, {{right, y}, {right - 100, y}, {right, y - 2 * rise}}, kInk, kFont);
    }
  }

  void label_lines() {
    const auto beside = [&](const std::string& text, double ai, double high, const std::string& colour) {
      const double half = text_width(text, 12) / 2;
      const double x = pixel(ai, frame_.y_low).x;
      std::vector<Pixel> centers;
      for (double y = kBottom + 14; y < std::max(high - 10, kBottom + 15); y += 18) {
        centers.push_back({x + half + 14, y});
        centers.push_back({x - half - 8, y});
      }
      text_in_free_place(text, centers, colour, 12);
    };
    if (chart_.algorithmic_ai) {
      const double ai = *chart_.algorithmic_ai;
      beside("algorithmic AI " + number_text(ai), ai, pixel(ai, roof_at(chart_, ai)).y, kQuiet);
    }
    if (!has_peak()) return;
    beside("ridge " + si_text(ridge(chart_), unit().per_byte), ridge(chart_), pixel(1, peak(chart_)).y, kQuiet);
  }

  // Writes the goal's name inside its region: under the compute roof if possible, otherwise along the memory roof;
  // beside the region if that is too small.
  void label_goal() {
    const auto outline = goal_outline(chart_, frame_);
    if (!outline || chart_.goal->label.empty()) return;
    const std::string& text = chart_.goal->label;
    const double half = text_width(text, kFont) / 2;
    const double left = pixel(outline->lower.front()).x, right = pixel(outline->lower.back()).x;
    const double knee = has_peak() ? pixel(ridge(chart_), peak(chart_)).x : right, drop = kLineHeight * 0.8;
    const double radians = roof_angle_deg() * std::numbers::pi / 180;
    std::vector<Pixel> flat, slant;
    for (double x = right - half - 6; x - half > std::max(left, knee); x -= 12) {
      flat.push_back({x, pixel(1, peak(chart_)).y - drop});
    }
    for (double x = left + half + 6; x + half < std::min(right, knee); x += 12) {
      const double ai = point({x, kBottom}).ai;
      const Pixel on_roof = pixel(ai, roof_at(chart_, ai));
      slant.push_back({on_roof.x + drop * std::sin(radians), on_roof.y - drop * std::cos(radians)});
    }
    if (flat.empty() && !slant.empty()) return text_in_free_place(text, slant, kGoalText, kFont, roof_angle_deg());
    flat.push_back({left - half - 6, pixel(outline->upper.front()).y - kLineHeight});
    text_in_free_place(text, flat, kGoalText, kFont);
  }

  // Writes the names of dots, preferably below and to the right, because roofs are above the dots.
  void label_dots() {
    for (auto dot = dots_.rbegin(); dot != dots_.rend(); ++dot) {
      label_dot(*dot);
      if (dot == dots_.rbegin() && library_) label_dot(*library_);
    }
  }

  void label_dot(const Dot& dot) {
    const std::string text = joined_labels(dot.labels);
    const double size = dot.newest ? kFont + 2 : kFont;
    const double half = text_width(text, size) / 2, reach = dot.radius + 5;
    std::vector<Pixel> centers;
    for (const double far : {0.0, 8.0, 16.0}) {
      const double side = half + reach + far, slant = half + 0.6 * (reach + far);
      const double down = size / 2 + reach + far, aslant = size / 2 + 0.55 * (reach + far);
      const Pixel p = dot.place;
      for (const Pixel& offset : {Pixel{slant, -aslant}, Pixel{side, 0}, Pixel{-side, 0}, Pixel{-slant, -aslant},
                                  Pixel{slant, aslant}, Pixel{-slant, aslant}, Pixel{0, -down}, Pixel{0, down}}) {
        centers.push_back({p.x + offset.x, p.y + offset.y});
      }
    }
    const bool quiet = dot.shown.older || (dot.starter && !dot.newest && !dot.shown.accepted);
    const char* colour = quiet ? kQuiet : dot.shown.accepted ? kGoalText : kWalk;
    text_in_free_place(text, centers, dot.newest || dot.starter ? colour : kInk, size);
  }

  void add_titles() {
    text_at({kLeft, kHeight - 24}, chart_.title, Align::left, kInk, 18);
    text_at({kLeft, kHeight - 48}, subtitle(chart_, walk_), Align::left, kQuiet, 12);
    text_at({kWidth - kRight, 10}, roof_sources(chart_, has_promises_), Align::right, kQuiet, 11);
  }

  // Draws the dots. A modelled dot is a disc with a smaller white disc on it, so that its rim has a constant width.
  void add_plot() {
    std::string data;
    for (const Dot& dot : dots_) {
      const auto row = [&](double radius, int colour) {
        data += fmt::format("{:.6g} {:.6g} {:.3g} {} {}\n", dot.shown.point.ai, dot.shown.point.flops_per_s,
                            radius / kPointSizeToPixels, dot.starter ? 5 : 7, colour);
      };
      row(dot.radius, dot.colour);
      if (dot.shown.modelled) row(dot.radius - kRim, 0xffffff);
    }
    if (!data.empty()) {
      blocks_ += fmt::format("# {}/byte, {}, size, point type, colour\n$dots << EOD\n{}EOD\n", unit().one,
                             unit().per_second, data);
      plots_.push_back("$dots using 1:2:3:4:5 with points ps variable pt variable lc rgb variable");
    }
    if (library_) {
      block("library", {library_->shown.point});  // a diamond, open if modelled, that hides no dot
      plots_.push_back(fmt::format("$library using 1:2 with points pt {} ps {:.3g} lw 2 lc rgb '{}'",
                                   library_->shown.modelled ? 12 : 13, kLibraryRadius / kPointSizeToPixels, kInk));
    }
    out_ += blocks_;
    line("plot {}", fmt::format("{}", fmt::join(plots_, ", \\\n     ")));
    line("unset output");
  }

  const Chart chart_;
  const DrawnWalk walk_;
  const Frame frame_;
  LabelPlacer placer_;
  std::vector<Dot> dots_;
  std::optional<Dot> library_;
  std::string out_, blocks_;
  std::vector<std::string> plots_;
  bool has_promises_ = false;  // whether dashed roofs are drawn
};

}  // namespace

std::string gnuplot_script(const Chart& chart, const std::filesystem::path& output, const std::string& terminal) {
  return Script(chart).text(output.filename().string(), terminal);
}

}  // namespace roofwalk
