// What `watch` shows, laid out for the size of the terminal.
#pragma once

#include <string>
#include <vector>

#include "common/plot/plot.h"
#include "grader/terminal/report.h"
#include "grader/terminal/terminal.h"

namespace roofwalk {

struct WatchView {
  enum class Plot { where_it_fits, shown, hidden };  // shown: even if the card loses lines to it

  std::vector<CardLine> card;
  std::vector<std::string> note;  // a hint, an answer to a key: at most 80 columns; always shown
  const Chart* chart = nullptr;   // nullptr: nothing to draw
  Plot plot = Plot::where_it_fits;
  std::string keys, status;  // the last line: left, and right if there is room
};

struct WatchScreen {
  std::string text;  // fills the screen; no newline at its end
  bool has_plot = false;
};

// The card gets its room first; the plot is beside it on a wide screen, else below it. Every line fits, and there are
// as many lines as the screen has rows.
WatchScreen watch_screen(const WatchView& view, TerminalSize size, bool color);

}  // namespace roofwalk
