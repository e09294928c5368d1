// A page of the book as its author marks it: which lines of it a program made, and how. Marks are HTML comments, which
// no reader sees:
//
//   <!-- copy: FROM TO -->                      a file of the course that the commands below work with
//   <!-- let NAME: ./roofwalk VERB ... -->      a record in JSON, for figures in the prose
//   3.17 ms<!-- NAME elapsed_ns -->             one of its figures (grader/author/figures.h)
//   <!-- run: ./roofwalk VERB ... -->           the block below is what is typed and what is printed
//   <!-- file: PATH -->                         the block below is that file
//   <!-- lessons: chapters -->                  the list below links the lesson of each chapter of that folder
//   <!-- holds: PATH "TEXT" -->                 the file has that text: what the prose says rests on it
//   <!-- figure: my/plots/NAME.svg -->          the image below is that picture, which a command above has drawn
//   <!-- draw: WHAT ... -->                     the image below is drawn by book/truth/drawings.h
//
// Behind `run` and `file`, ` | lines "FIRST" to "LAST"` keeps the lines from the first that holds FIRST to the next
// that holds LAST; `[...]` stands for what is left out of an output. Behind `run`, further ranges may follow, each
// after a comma. `[...]` stands between them, whether there are other lines or not.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/base/result.h"

namespace roofwalk::book {

enum class MarkKind { copy, let, run, file, lessons, holds, figure, draw };

// The lines from the one that holds `first` to the next that holds `last`.
struct Range {
  std::string first, last;
};

struct Mark {
  MarkKind kind = MarkKind::run;
  int line = 0;                    // of the comment, from 1
  std::string name = {};           // of a record
  std::string subject = {};        // what is typed behind "./roofwalk ", a path, "FROM TO", or what is drawn
  std::string image = {};          // figure and draw: the file of the image below, as the page names it
  std::string text = {};           // that a file holds
  std::vector<Range> kept = {};    // run and file; empty: all lines
  std::size_t begin = 0, end = 0;  // lines of the block below, from 0, without its fences; run and file only
};

struct Page {
  std::vector<std::string> lines;
  std::vector<Mark> marks;  // in order
  std::string prose;  // the page with its marks' own lines and all blocks of code emptied: what figures are read in
};

// A whole file; empty where it cannot be read.
std::string text_of(const std::filesystem::path& file);

// Errors, with the line: a mark that is none of the above, one without its block, a block without an end.
Result<Page> parse_page(const std::string& text);

// The lines that `mark` keeps, those of a file indented as little as they allow. Errors: no such line.
Result<std::vector<std::string>> kept_lines(const std::vector<std::string>& lines, const Mark& mark);

// What the block of `mark` must hold, given what the command printed or the text of the file.
Result<std::vector<std::string>> true_block(const Mark& mark, const std::string& text);

std::vector<std::string> lines_of(const std::string& text);
std::string joined(const std::vector<std::string>& lines);

}  // namespace roofwalk::book
