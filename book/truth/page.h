// A page of the book and its marks, which say how a program made parts of the page. Marks are HTML comments, which
// readers do not see:
//
//   <!-- copy: FROM TO -->                      copies a file of the course for the commands below
//   <!-- let NAME: ./roofwalk VERB ... -->      names the command's JSON record, for figures in the prose
//   3.17 ms<!-- NAME elapsed_ns -->             a figure of that record (grader/author/figures.h)
//   <!-- run: ./roofwalk VERB ... -->           the block below is the command and its output
//   <!-- file: PATH -->                         the block below is that file
//   <!-- lessons: chapters -->                  the list below links the lesson of each chapter of that folder
//   <!-- holds: PATH "TEXT" -->                 the file contains that text, on which the prose relies
//   <!-- figure: my/plots/NAME.svg -->          the image below is that picture, drawn by a command above
//   <!-- draw: WHAT ... -->                     the image below is drawn by book/truth/drawings.h
//
// After `run` and `file`, ` | lines "FIRST" to "LAST"` keeps only the lines from the first that contains FIRST to the
// next that contains LAST. "^TEXT" stands for a line that starts with TEXT. After `run`, more ranges may follow,
// separated by commas. `[...]` replaces the lines that are left out of an output; it is always inserted between ranges.
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

// The lines from the first that contains `first` to the next that contains `last`.
struct Range {
  std::string first, last;
};

struct Mark {
  MarkKind kind = MarkKind::run;
  int line = 0;                    // of the comment, from 1
  std::string name = {};           // of a record (let)
  std::string subject = {};        // a command without "./roofwalk ", a path, "FROM TO", or what to draw
  std::string image = {};          // figure and draw: the file of the image below, as the page names it
  std::string text = {};           // what the file must contain (holds)
  std::vector<Range> kept = {};    // run and file; empty: all lines
  std::size_t begin = 0, end = 0;  // lines of the block or list below, from 0, without fences; `end` 0: none
};

struct Page {
  std::vector<std::string> lines;
  std::vector<Mark> marks;  // in order
  std::string prose;        // the page with empty lines for marks and code blocks; figures are parsed from it
};

// Returns the contents of a file; empty if it cannot be read.
std::string text_of(const std::filesystem::path& file);

// Parses a page. Errors, with the line: an invalid mark, a mark without its block or image, a block without an end.
Result<Page> parse_page(const std::string& text);

// Returns the lines that `mark` keeps; removes the common indentation of a file's lines. Errors: no such line.
Result<std::vector<std::string>> kept_lines(const std::vector<std::string>& lines, const Mark& mark);

// Returns what the block of `mark` must contain, given the command's output or the file's text.
Result<std::vector<std::string>> true_block(const Mark& mark, const std::string& text);

std::vector<std::string> lines_of(const std::string& text);
std::string joined(const std::vector<std::string>& lines);

}  // namespace roofwalk::book
