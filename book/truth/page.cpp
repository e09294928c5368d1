#include "book/truth/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "common/base/pattern.h"

namespace roofwalk::book {
namespace {

constexpr std::string_view kElided = "[...]", kCall = "./roofwalk ";

MarkKind kind_of(const std::string& word) {
  static const std::map<std::string, MarkKind> kKinds = {
      {"copy", MarkKind::copy}, {"run", MarkKind::run},     {"file", MarkKind::file},      {"figure", MarkKind::figure},
      {"draw", MarkKind::draw}, {"holds", MarkKind::holds}, {"lessons", MarkKind::lessons}};
  const auto kind = kKinds.find(word);
  return kind == kKinds.end() ? MarkKind::let : kind->second;
}

bool is_fence(const std::string& line) { return line.starts_with("```"); }

// Parses a line that starts with "<!--" as a mark. Errors: it is not a valid mark.
Result<Mark> parse_mark(const std::string& line, int number) {
  static const Pattern kMark(
      R"re(<!-- (copy|run|file|lessons|holds|figure|draw|let ([a-z][a-z0-9_]*)): (.*?)( \| lines ("[^"]+" to "[^"]+"(, "[^"]+" to "[^"]+")*))? -->)re");
  static const Pattern kRange(R"re("([^"]+)" to "([^"]+)")re");
  static const Pattern kText(R"re(([^ ]+) "(.+)")re");
  const auto found = kMark.match(line);
  if (!found) {
    return Error{
        "this comment is no mark: copy, let NAME, run, file, lessons, holds, figure or draw, then a colon "
        "(book/truth/page.h)",
        "", number};
  }
  const Pattern::Groups& match = *found;
  Mark mark;
  mark.line = number;
  mark.kind = kind_of(match[1]);
  mark.name = match[2];
  mark.subject = match[3];
  for (const Pattern::Groups& range : kRange.search_all(match[5])) mark.kept.push_back({range[1], range[2]});
  if (mark.kind != MarkKind::run && mark.kept.size() > 1) {
    return Error{"only what a command prints may be kept in several ranges", "", number};
  }
  if (mark.kind == MarkKind::holds) {
    const auto text = kText.match(mark.subject);
    if (!text) return Error{"a file holds PATH \"TEXT\"", "", number};
    mark.text = (*text)[2];
    mark.subject = (*text)[1];
  }
  if (mark.kind == MarkKind::run || mark.kind == MarkKind::let) {
    if (!mark.subject.starts_with(kCall)) return Error{"a command begins with ./roofwalk", "", number};
    mark.subject.erase(0, kCall.size());
  }
  return mark;
}

bool has_image(const Mark& mark) { return mark.kind == MarkKind::figure || mark.kind == MarkKind::draw; }

// Returns the image's file if the line consists of one image; otherwise empty.
std::string image_of(const std::string& line) {
  static const Pattern kImage(R"(!\[[^\]]+\]\((images/[a-z0-9-]+\.svg)\))");
  const auto match = kImage.match(line);
  return match ? (*match)[1] : "";
}

bool has_block(const Mark& mark) { return mark.kind == MarkKind::run || mark.kind == MarkKind::file; }

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<Page> parse_page(const std::string& text) {
  Page page;
  page.lines = lines_of(text);
  std::vector<std::string> prose = page.lines;
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    if (page.lines[i].starts_with("<!--")) {
      ROOFWALK_TRY(Mark mark, parse_mark(page.lines[i], number));
      prose[i].clear();
      if (has_block(mark) && (i + 1 == page.lines.size() || !is_fence(page.lines[i + 1]))) {
        return Error{"the block that a command or a file fills begins right below its mark", "", number};
      }
      if (has_image(mark)) {
        mark.image = i + 1 < page.lines.size() ? image_of(page.lines[i + 1]) : "";
        if (mark.image.empty()) {
          return Error{"right below stands its image, ![what it shows](images/name.svg)", "", number};
        }
      }
      mark.begin = i + 2;
      if (mark.kind == MarkKind::lessons) {
        mark.begin = mark.end = i + 1;
        while (mark.end < page.lines.size() && page.lines[mark.end].starts_with("- ")) ++mark.end;
      }
      page.marks.push_back(mark);
    } else if (is_fence(page.lines[i])) {
      const auto open = page.lines.begin() + static_cast<std::ptrdiff_t>(i);
      const auto close = std::find(open + 1, page.lines.end(), "```");
      if (close == page.lines.end()) return Error{"this block has no end", "", number};
      const auto end = static_cast<std::size_t>(close - page.lines.begin());
      if (!page.marks.empty() && has_block(page.marks.back()) && page.marks.back().begin == i + 1) {
        page.marks.back().end = end;
      }
      for (; i < end; ++i) prose[i].clear();
      prose[end].clear();
    }
  }
  page.prose = joined(prose);
  return page;
}

Result<std::vector<std::string>> kept_lines(const std::vector<std::string>& lines, const Mark& mark) {
  std::vector<std::string> kept;
  if (mark.kept.empty()) kept = lines;
  const auto holds = [](const std::string& what) {
    return [&what](const std::string& line) {
      return what.starts_with('^') ? line.starts_with(what.substr(1)) : line.find(what) != std::string::npos;
    };
  };
  auto from = lines.begin();
  for (const Range& range : mark.kept) {
    from = std::find_if(from, lines.end(), holds(range.first));
    if (from == lines.end()) return Error{fmt::format("no line holds \"{}\"", range.first), "", mark.line};
    const auto to = std::find_if(from, lines.end(), holds(range.last));
    if (to == lines.end()) {
      return Error{fmt::format("no line from there on holds \"{}\"", range.last), "", mark.line};
    }
    if (!kept.empty()) kept.emplace_back(kElided);
    kept.insert(kept.end(), from, to + 1);
    from = to + 1;
  }
  std::size_t indent = std::string::npos;
  for (const std::string& line : kept) indent = std::min(indent, line.find_first_not_of(' '));
  for (std::string& line : kept) {
    if (mark.kind == MarkKind::file && indent != std::string::npos && !line.empty()) line.erase(0, indent);
    while (line.ends_with(' ')) line.pop_back();
  }
  while (!kept.empty() && kept.back().empty()) kept.pop_back();
  return kept;
}

Result<std::vector<std::string>> true_block(const Mark& mark, const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  ROOFWALK_TRY(std::vector<std::string> block, kept_lines(lines, mark));
  if (mark.kind == MarkKind::file || mark.kind == MarkKind::lessons) return block;
  if (!mark.kept.empty()) {
    const std::string &first = mark.kept.front().first, &last = mark.kept.back().last;
    if (lines.front().find(first) == std::string::npos) block.insert(block.begin(), std::string(kElided));
    if (lines.back().find(last) == std::string::npos) block.emplace_back(kElided);
  }
  block.insert(block.begin(), "$ " + std::string(kCall) + mark.subject);
  return block;
}

}  // namespace roofwalk::book
