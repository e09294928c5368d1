// The chart as text for a terminal. Plain ASCII, so that it looks the same everywhere and in every log.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/plot/captions.h"
#include "common/plot/frame.h"
#include "common/plot/plot.h"
#include "common/plot/walk.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr int kFewestColumns = 40, kFewestRows = 12;
constexpr int kLeftColumns = 7;  // columns of the y axis: "100 G |"
constexpr int kTopRows = 1;      // the title
constexpr int kBottomRows = 4;   // axis, tick labels, axis title, legend

enum class Paint { none, quiet, roof, goal, walk, newest, library };

const char* escape(Paint paint) {
  switch (paint) {
    case Paint::none:
      return "";
    case Paint::quiet:
      return "\x1b[2m";
    case Paint::roof:
      return "\x1b[34m";
    case Paint::goal:
      return "\x1b[32m";
    case Paint::walk:
      return "\x1b[33m";
    case Paint::newest:
      return "\x1b[1;33m";
    case Paint::library:
      return "\x1b[1m";
  }
  return "";
}

class Canvas {
 public:
  Canvas(int columns, int rows) : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns * rows)) {}

  // These write characters; row 0 is the top. Characters outside the canvas are dropped.
  void put(int column, int row, char c, Paint paint) {
    if (inside(column, row)) at(column, row) = {c, paint, true};
  }
  void write(int column, int row, std::string_view text, Paint paint) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      put(column + static_cast<int>(i), row, c < 0x20 || c > 0x7e ? '?' : c, paint);
    }
  }
  bool free(int column, int row, int length) const {
    for (int i = 0; i < length; ++i) {
      if (!inside(column + i, row) || cell(column + i, row).taken) return false;
    }
    return true;
  }
  bool shows(char c, Paint paint) const {
    return std::any_of(cells_.begin(), cells_.end(),
                       [&](const Cell& cell) { return cell.c == c && cell.paint == paint; });
  }
  bool inside(int column, int row) const { return column >= 0 && column < columns_ && row >= 0 && row < rows_; }

  std::string text(bool color) const {
    std::string out;
    for (int row = 0; row < rows_; ++row) {
      Paint paint = Paint::none;
      for (int column = 0; column < columns_; ++column) {
        const Cell& c = cell(column, row);
        if (color && c.paint != paint) {
          if (paint != Paint::none) out += "\x1b[0m";
          out += escape(c.paint);
          paint = c.paint;
        }
        out += c.c;
      }
      if (paint != Paint::none && color) out += "\x1b[0m";
      out += '\n';
    }
    return out;
  }

 private:
  struct Cell {
    char c = ' ';
    Paint paint = Paint::none;
    bool taken = false;  // also true for a blank inside a text
  };
  Cell& at(int column, int row) { return cells_[static_cast<std::size_t>(row * columns_ + column)]; }
  const Cell& cell(int column, int row) const { return cells_[static_cast<std::size_t>(row * columns_ + column)]; }

  int columns_, rows_;
  std::vector<Cell> cells_;
};

class TextPlot {
 public:
  TextPlot(const Chart& chart, int columns, int rows)
      : chart_(with_drawn_roofs(chart)),
        walk_(drawn_walk(chart.walk)),
        frame_(frame_of(chart, walk_.points)),
        columns_(std::max(columns, kFewestColumns)),
        rows_(std::max(rows, kFewestRows)),
        canvas_(columns_, rows_) {}

  std::string text(bool color) {
    add_axes();
    add_goal();
    add_lines();
    add_roof();
    add_library();
    add_dots();
    add_other_roofs();
    add_texts();
    return canvas_.text(color);
  }

 private:
  int width() const { return columns_ - kLeftColumns - 1; }
  int height() const { return rows_ - kTopRows - kBottomRows; }
  int column_of(double ai) const {
    return kLeftColumns + static_cast<int>(std::lround(frame_.x_share(ai) * (width() - 1)));
  }
  // Returns the position in rows from the top, with a fraction; .0 is the middle of a row.
  double height_of(double flops_per_s) const { return kTopRows + (1 - frame_.y_share(flops_per_s)) * (height() - 1); }
  int row_of(double flops_per_s) const { return static_cast<int>(std::lround(height_of(flops_per_s))); }
  double ai_of(int column) const {
    return frame_.x_low *
           std::pow(frame_.x_high / frame_.x_low, static_cast<double>(column - kLeftColumns) / (width() - 1));
  }
  int bottom() const { return kTopRows + height(); }  // row of the axis
  bool in_plot(int column, int row) const {
    return column >= kLeftColumns && column < kLeftColumns + width() && row >= kTopRows && row < bottom();
  }

  void add_axes() {
    for (int row = kTopRows; row < bottom(); ++row) canvas_.put(kLeftColumns - 1, row, '|', Paint::quiet);
    for (int column = kLeftColumns - 1; column < kLeftColumns + width(); ++column)
      canvas_.put(column, bottom(), '-', Paint::quiet);
    for (const double tick : frame_.y_ticks()) {
      const std::string label = si_text(tick, "");
      const int row = row_of(tick);
      canvas_.put(kLeftColumns - 1, row, '+', Paint::quiet);
      canvas_.write(kLeftColumns - 2 - static_cast<int>(label.size()), row, label, Paint::none);
    }
    canvas_.put(kLeftColumns - 1, bottom(), '+', Paint::quiet);
    for (const double tick : frame_.x_ticks()) {
      const std::string label = number_text(tick);
      const int column = column_of(tick), length = static_cast<int>(label.size());
      if (column > kLeftColumns) canvas_.put(column, bottom(), '+', Paint::quiet);
      canvas_.write(std::min(column - length / 2, columns_ - length), bottom() + 1, label, Paint::none);
    }
  }

  bool has_peak() const { return !chart_.roofs.is_memory_only; }

  // The column in which a memory roof meets the compute roof; right of the plot if there is none.
  int knee_of(double bytes_per_s) const {
    return has_peak() ? column_of(peak(chart_) / bytes_per_s) : kLeftColumns + width();
  }

  // Draws the lower edge of the goal region as "~".
  void add_goal() {
    const auto outline = goal_outline(chart_, frame_);
    if (!outline) return;
    const auto& edge = outline->lower;
    for (std::size_t i = 1; i < edge.size(); ++i) {
      for (int column = column_of(edge[i - 1].ai); column <= column_of(edge[i].ai); ++column) {
        const double run = std::log(edge[i].ai / edge[i - 1].ai);
        const double share = run > 0 ? std::clamp(std::log(ai_of(column) / edge[i - 1].ai) / run, 0.0, 1.0) : 0;
        plot(column, row_of(edge[i - 1].flops_per_s * std::pow(edge[i].flops_per_s / edge[i - 1].flops_per_s, share)),
             '~', Paint::goal);
      }
    }
  }

  void plot(int column, int row, char c, Paint paint) {
    if (in_plot(column, row)) canvas_.put(column, row, c, paint);
  }

  void add_lines() {
    if (has_peak()) {
      const int column = column_of(ridge(chart_));
      for (int row = row_of(peak(chart_)); row < bottom(); ++row) plot(column, row, ':', Paint::quiet);
    }
    if (!chart_.algorithmic_ai) return;
    const double ai = *chart_.algorithmic_ai;
    for (int row = row_of(roof_at(chart_, ai)); row < bottom(); ++row) plot(column_of(ai), row, '|', Paint::none);
  }

  // Draws the chart's own roof with characters that are high, low or in the middle of their row.
  void add_roof() {
    for (int column = kLeftColumns; column < kLeftColumns + width(); ++column) {
      const double place = height_of(roof_at(chart_, ai_of(column)));
      const double offset = place - std::lround(place);
      const bool flat = column >= knee_of(bandwidth(chart_));
      plot(column, static_cast<int>(std::lround(place)),
           flat             ? '='
           : offset > 0.17  ? '_'
           : offset < -0.17 ? '"'
                            : '-',
           Paint::roof);
    }
    if (!has_peak()) return;
    const ComputeRoof& roof = chart_.roofs.compute.front();
    const std::string_view unit = words_of(chart_.roofs.unit).per_second;
    const std::string label = upper_case(roof.name) + " " + si_text(roof.flops_per_s, unit) +
                              promise(roof.flops_per_s, roof.data_sheet_flops_per_s, unit);
    canvas_.write(kLeftColumns + width() - static_cast<int>(label.size()), row_of(roof.flops_per_s) - 1, label,
                  Paint::roof);
  }

  // Draws the library's dot, which dots of the walk may hide.
  void add_library() {
    if (!chart_.library) return;
    const Point& point = chart_.library->point;
    plot(std::min(column_of(point.ai), kLeftColumns + width() - 2), row_of(point.flops_per_s), 'L', Paint::library);
  }

  void add_dots() {
    for (std::size_t i = 0; i < walk_.points.size(); ++i) {
      const Point& point = walk_.points[i].point;
      places_.push_back({std::min(column_of(point.ai), kLeftColumns + width() - 2), row_of(point.flops_per_s)});
    }
    // Newest first; a number that would touch another one becomes an "o".
    std::vector<std::pair<int, int>> digits;
    for (std::size_t i = places_.size(); i-- > 0;) {
      const auto [column, row] = places_[i];
      if (hidden(i)) continue;
      const std::string number = mark(i);
      const int length = static_cast<int>(number.size());
      const bool is_number = number != "*" && !(i == 0 && walk_.has_starter);
      const bool touches = std::any_of(digits.begin(), digits.end(), [&, c = column, r = row](const auto& d) {
        return d.second == r && d.first >= c - 1 && d.first <= c + length;
      });
      const std::string text = is_number && touches ? std::string(1, 'o') : number;
      for (int d = 0; is_number && !touches && d < length; ++d) digits.push_back({column + d, row});
      canvas_.write(column, row, text, text == "*" ? Paint::newest : Paint::walk);
    }
    const MemoryRoof& own = *chart_.roofs.memory_roof(chart_.level);
    const std::string more = promise(own.bytes_per_s, own.data_sheet_bytes_per_s, "B/s");
    if (more.empty() || !label_roof(own, true, more)) label_roof(own, true);
  }

  // Draws the other roofs with dots, in free cells only. A roof without room for its name is omitted.
  void add_other_roofs() {
    for (const MemoryRoof& roof : chart_.roofs.memory) {
      if (roof.level == chart_.level || !label_roof(roof, false)) continue;
      const int knee = knee_of(roof.bytes_per_s);
      for (int column = kLeftColumns; column < knee; column += 2) {
        const int row = row_of(ai_of(column) * roof.bytes_per_s);
        if (canvas_.free(column, row, 1)) plot(column, row, '.', Paint::quiet);
      }
    }
  }

  // Writes the name of a roof; false if there is no room. The name of the chart's own roof is directly below or above
  // the roof (only below if `more` is given, because a longer name above would reach into other roofs); the name of
  // another roof is in the roof's line or left of it.
  bool label_roof(const MemoryRoof& roof, bool own, const std::string& more = {}) {
    const std::string label = upper_case(roof.level) + " " + si_text(roof.bytes_per_s, "B/s") + more;
    const int length = static_cast<int>(label.size());
    const int knee = knee_of(roof.bytes_per_s);
    // `anchor` is the column where the text is nearest to the rising roof.
    const auto write_at = [&](int column, int anchor, int rows_below) {
      const int row = row_of(std::min(peak(chart_), ai_of(anchor) * roof.bytes_per_s)) + rows_below;
      if (!in_plot(column, row) || !canvas_.free(column - 1, row, length + 2)) return false;
      canvas_.write(column, row, label, own ? Paint::roof : Paint::quiet);
      return true;
    };
    const auto write_along = [&](int from_start, int rows_below) {
      for (int column = kLeftColumns + 1; column + length < knee; ++column) {
        if (write_at(column, column + from_start, rows_below)) return true;
      }
      return false;
    };
    if (own) return write_along(0, 1) || (more.empty() && write_along(length, -1));
    return write_along(length / 2, 0) || write_along(length, 0);
  }

  // Returns the first letter of the first dot's name: "S" for the starter, "R" for a reference.
  std::string starter_mark() const { return upper_case(walk_.points.front().label.substr(0, 1)); }

  std::string mark(std::size_t i) const {
    if (i == 0 && walk_.has_starter) return starter_mark();
    return i + 1 == walk_.points.size() ? "*" : walk_.points[i].label;
  }

  // Whether a later dot is in the same cell.
  bool hidden(std::size_t i) const {
    return std::find(places_.begin() + static_cast<std::ptrdiff_t>(i) + 1, places_.end(), places_[i]) != places_.end();
  }

  // Adds "under *: 1, 2" for dots hidden by a later one; "under *: 7 dots" if there is no room for their names.
  void add_hidden(std::string& legend) const {
    for (std::size_t top = 0; top < places_.size(); ++top) {
      std::vector<std::string> labels;
      for (std::size_t i = 0; i < top && !hidden(top); ++i) {
        if (places_[i] == places_[top]) labels.push_back(walk_.points[i].label);
      }
      if (labels.empty()) continue;
      const std::string under = fmt::format("under {}: ", mark(top));
      if (!add_part(under + joined_labels(labels), legend))
        add_part(fmt::format("{}{} dots", under, labels.size()), legend);
    }
  }

  // Appends the part if it fits completely; otherwise returns false.
  bool add_part(const std::string& part, std::string& legend) const {
    const std::string longer = legend.empty() ? part : legend + "  " + part;
    if (longer.size() > static_cast<std::size_t>(columns_)) return false;
    legend = longer;
    return true;
  }

  void add_texts() {
    canvas_.write(0, 0, chart_.title, Paint::none);
    const std::string note = chart_.time_is_modelled ? "times modelled" : "times measured";
    const int note_column = columns_ - static_cast<int>(note.size());
    bool has_note = note_column > static_cast<int>(chart_.title.size()) + 1;
    if (has_note) canvas_.write(note_column, 0, note, Paint::quiet);

    const UnitWords& unit = words_of(chart_.roofs.unit);
    std::string axis = fmt::format("{} over {}/{} byte", unit.per_second, unit.one, upper_case(chart_.level));
    if (has_peak()) axis += "   : ridge " + number_text(ridge(chart_));
    if (chart_.algorithmic_ai) axis += "   | algorithmic AI " + number_text(*chart_.algorithmic_ai);
    if (!has_note && static_cast<int>(axis.size()) + 3 <= note_column) {
      axis += "   " + note;
      has_note = true;
    }
    canvas_.write(0, rows_ - 2, axis, Paint::none);

    std::string legend;
    if (!has_note) add_part(note, legend);
    if (walk_.has_starter) add_part(starter_mark() + " " + walk_.points.front().label, legend);
    if (walk_.points.size() > (walk_.has_starter ? 1u : 0u)) add_part("* attempt " + walk_.points.back().label, legend);
    if (chart_.library) {
      const bool is_hidden = !canvas_.shows('L', Paint::library);
      add_part("L " + chart_.library->label + (is_hidden ? " (under another dot)" : ""), legend);
    }
    if (canvas_.shows('~', Paint::goal)) add_part("~ " + chart_.goal->label + " from here", legend);
    add_hidden(legend);
    if (walk_.skipped + walk_.unplaced > 0)
      add_part(fmt::format("{} not drawn", walk_.skipped + walk_.unplaced), legend);
    const bool is_measured = has_peak() ? chart_.roofs.compute.front().data_sheet_flops_per_s.has_value()
                                        : chart_.roofs.memory_roof(chart_.level)->data_sheet_bytes_per_s.has_value();
    if (is_measured) add_part("roofs measured", legend);
    canvas_.write(0, rows_ - 1, legend, Paint::none);
  }

  const Chart chart_;
  const DrawnWalk walk_;
  const Frame frame_;
  int columns_, rows_;
  Canvas canvas_;
  std::vector<std::pair<int, int>> places_;  // column and row of each dot
};

}  // namespace

std::string text_plot(const Chart& chart, int columns, int rows, bool color) {
  return TextPlot(chart, columns, rows).text(color);
}

}  // namespace roofwalk
