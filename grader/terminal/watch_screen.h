// The screen of `watch`, laid out for the size of the terminal.
#pragma once

#include <string>
#include <vector>

#include "common/plot/plot.h"
#include "grader/terminal/report.h"
#include "grader/terminal/terminal.h"

namespace roofwalk {

struct WatchView {
  enum class Plot { where_it_fits, shown, hidden };  // shown: even if the card then loses lines

  std::vector<CardLine> card;
  std::vector<std::string> note;  // a hint or an answer to a key: at most 80 columns; always shown
  const Chart* chart = nullptr;   // nullptr: nothing to draw
  Plot plot = Plot::where_it_fits;
  std::string keys, status;  // for the last line: keys at the left, status at the right if there is room
};

struct WatchScreen {
  std::string text;  // fills the screen; no newline at its end
  bool has_plot = false;
};

// Lays out the screen. The card gets its room first; the plot is next to it on a wide screen, otherwise below it. Every
// line fits the width, and the text has as many lines as the screen has rows.
WatchScreen watch_screen(const WatchView& view, TerminalSize size, bool color);

}  // namespace roofwalk
