#include "grader/terminal/watch_screen.h"

#include <algorithm>

#include "grader/terminal/report.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

constexpr int kCardWidth = static_cast<int>(kCardColumns);
constexpr int kFewestPlotColumns = 50, kMostPlotColumns = 110;
constexpr int kFewestPlotRows = 13, kMostPlotRows = 36;
constexpr int kFewestCardRows = 7;  // title, verdict, two goals, the advice

using Lines = std::vector<std::string>;

Lines split_lines(const std::string& text) {
  Lines lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Lines texts(const std::vector<CardLine>& card) {
  Lines lines;
  for (const CardLine& line : card) lines.push_back(line.text);
  return lines;
}

void append(Lines& lines, const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); }

// The place of the plot, and its size; 0 rows: not shown.
struct Place {
  int columns = 0, rows = 0;
  bool is_beside = false;
};

Place place_of(const WatchView& view, TerminalSize size, int body, int note_rows) {
  if (view.chart == nullptr || view.plot == WatchView::Plot::hidden) return {};
  const int beside = std::min(size.columns - kCardWidth - 2, kMostPlotColumns);
  if (beside >= kFewestPlotColumns && body >= kFewestPlotRows) {
    return {beside, std::min(body, kMostPlotRows), true};
  }
  const int columns = std::min(size.columns, kMostPlotColumns);
  int rows = body - note_rows - static_cast<int>(view.card.size()) - 1;
  if (rows < kFewestPlotRows) {
    if (view.plot != WatchView::Plot::shown) return {};
    rows = body - note_rows - kFewestCardRows - 1;
  }
  if (rows < kFewestPlotRows || columns < kFewestPlotColumns) return {};
  return {columns, std::min(rows, kMostPlotRows), false};
}

std::string last_line(const WatchView& view, int columns) {
  const auto width = static_cast<std::size_t>(columns);
  const std::size_t used = shown_columns(view.keys) + shown_columns(view.status);
  if (used + 2 > width) return cut_to(view.keys, width);
  return view.keys + std::string(width - used, ' ') + view.status;
}

}  // namespace

WatchScreen watch_screen(const WatchView& view, TerminalSize size, bool color) {
  const int body = std::max(1, size.rows - 2);
  const int note_rows = view.note.empty() ? 0 : static_cast<int>(view.note.size()) + 1;
  const Place place = place_of(view, size, body, note_rows);
  const bool is_below = place.rows > 0 && !place.is_beside;
  const int card_rows = std::max(0, body - note_rows - (is_below ? place.rows + 1 : 0));

  Lines lines = texts(fitted(view.card, static_cast<std::size_t>(card_rows)));
  if (!view.note.empty()) {
    if (!lines.empty()) lines.emplace_back();
    append(lines, view.note);
  }
  if (place.rows > 0) {
    const Lines plot = split_lines(text_plot(*view.chart, place.columns, place.rows, color));
    if (is_below) {
      lines.emplace_back();
      append(lines, plot);
    } else {
      lines.resize(std::max(lines.size(), plot.size()));
      for (std::size_t i = 0; i < plot.size(); ++i) {
        const std::size_t used = std::min<std::size_t>(shown_columns(lines[i]), kCardColumns);
        lines[i] = cut_to(lines[i], kCardColumns) + std::string(kCardColumns - used + 2, ' ') + plot[i];
      }
    }
  }
  lines.resize(static_cast<std::size_t>(std::max(1, size.rows) - 1));
  WatchScreen screen{{}, place.rows > 0};
  for (const std::string& line : lines) screen.text += cut_to(line, static_cast<std::size_t>(size.columns)) + "\n";
  // A character in the last column of the last row makes some terminals scroll.
  screen.text += last_line(view, size.columns - 1);
  return screen;
}

}  // namespace roofwalk
