#include "grader/class/handout/handout_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "grader/class/batch/gradebook.h"
#include "grader/class/hand_ins/submissions.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFence = "```";
constexpr const char* kLeftOut = "*Left out of this handout: it shows a solution.*";

bool is_mark(const std::string& line, std::string_view kind) { return line.starts_with(fmt::format("<!-- {}:", kind)); }

bool names_a_solution(const std::string& mark) { return mark.find(" solutions/") != std::string::npos; }

std::string without_solutions(const std::string& text) {
  std::istringstream in(text);
  std::string out, mark;
  bool cuts = false, in_block = false, my_is_solved = false;
  for (std::string line; std::getline(in, line);) {
    if (in_block) {
      in_block = !line.starts_with(kFence);
      if (!cuts) out += line + "\n";
      continue;
    }
    if (line.starts_with("<!-- ")) {
      my_is_solved = my_is_solved || (is_mark(line, "copy") && names_a_solution(line));
      mark = line;
    } else if (line.starts_with(kFence)) {
      in_block = true;
      const bool is_profile = is_mark(mark, "run") && mark.find("roofwalk profile ") != std::string::npos;
      cuts =
          (is_mark(mark, "file") && names_a_solution(mark)) || (is_profile && (names_a_solution(mark) || my_is_solved));
      mark.clear();
      if (cuts) {
        out += fmt::format("{}\n", kLeftOut);
        continue;
      }
    } else if (!line.empty()) {
      mark.clear();
    }
    out += line + "\n";
  }
  return out;
}

bool leads_somewhere(const std::string& target, const fs::path& page, const std::set<std::string>& files) {
  if (target.empty() || target.front() == '#' || target.find(':') != std::string::npos) return true;
  const std::string path = target.substr(0, target.find('#'));
  std::string full = (page.parent_path() / path).lexically_normal().string();
  while (full.ends_with('/')) full.pop_back();
  if (files.contains(full)) return true;
  full += '/';
  const auto inside = files.lower_bound(full);  // the first file in a folder
  return inside != files.end() && inside->starts_with(full);
}

// Replaces a link [words](target) by its words if the target is not handed out. The words may span lines.
std::string without_dead_links(const std::string& text, const fs::path& page, const std::set<std::string>& files) {
  std::string out;
  bool in_block = false;
  for (std::size_t i = 0; i < text.size();) {
    const bool at_line = i == 0 || text[i - 1] == '\n';
    if (at_line && text.compare(i, kFence.size(), kFence) == 0) in_block = !in_block;
    const std::size_t middle = text.compare(i, 2, "](") == 0 && !in_block ? i : std::string::npos;
    const std::size_t end = middle == std::string::npos ? middle : text.find(')', i);
    const std::size_t open = end == std::string::npos ? end : out.rfind('[');
    if (open == std::string::npos) {
      out += text[i++];
      continue;
    }
    const std::string target = text.substr(middle + 2, end - middle - 2);
    if (leads_somewhere(target, page, files)) {
      out += text.substr(i, end + 1 - i);
    } else {
      const bool is_picture = open > 0 && out[open - 1] == '!';
      out.erase(is_picture ? open - 1 : open, is_picture ? 2 : 1);
    }
    i = end + 1;
  }
  return out;
}

std::string shares_text(const CourseTerms& terms, const std::vector<const Chapter*>& chapters) {
  double least = 1, most = 0;
  for (const Chapter* chapter : chapters) {
    if (const ChapterTerms* one = terms.find(chapter->name)) {
      least = std::min(least, one->pass_share);
      most = std::max(most, one->pass_share);
    }
  }
  return least >= most ? fmt::format("{:.0f} %", 100 * most)
                       : fmt::format("{:.0f} to {:.0f} %", 100 * least, 100 * most);
}

}  // namespace

std::string page_for_learners(const std::string& text, const fs::path& page, const std::set<std::string>& files) {
  return without_dead_links(without_solutions(text), page, files);
}

std::string handout_readme(const CourseTerms& terms, const std::vector<const Chapter*>& chapters) {
  const std::string first = chapters.empty() ? "NAME" : chapters.front()->name;
  std::string text = fmt::format("# {}\n\n", terms.title.empty() ? "Walk the roofline" : terms.title);
  text +=
      "Learn to make CUDA kernels fast. You need no GPU: kernels run on a virtual one, the same for everybody, whose\n"
      "counts are exact. Two commands, on Debian 12 or Ubuntu 24.04:\n\n";
  text += fmt::format(
      "```sh\n./roofwalk run {0}    # installs what is missing (it asks once), builds (2 to 5 minutes, once), shows "
      "your "
      "first dot\n"
      "./roofwalk next              # says what to do next\n```\n\n",
      first);
  text += fmt::format(
      "`run` copies the starter to `my/{0}.cu`, which is the file that you edit and hand in. `./roofwalk watch {0}`\n"
      "checks at every save, `./roofwalk hint {0}` helps, `./roofwalk profile {0}` shows which line to look at,\n"
      "`./roofwalk doctor` finds out what is missing. [The book](book/README.md) explains the picture, from\n"
      "[the first ten minutes](book/start.md) on.\n\n",
      first);
  text += "## What is graded\n\n| chapter | hand in | points | due |\n|---|---|---|---|\n";
  for (const Chapter* chapter : chapters) {
    const ChapterTerms* one = terms.find(chapter->name);
    text +=
        fmt::format("| [{0}](chapters/{4}/lesson.md): {1} | `my/{0}.cu` | {2} | {3} |\n", chapter->name, chapter->title,
                    one == nullptr ? "-" : points_text(one->points),
                    one == nullptr || !one->deadline_s ? "-" : moment_text(*one->deadline_s, one->deadline_offset_min),
                    chapter->folder.filename().string());
  }
  text += fmt::format(
      "\nA correct kernel that meets the goals of a pass earns {} of the points, an ace all of them; between, and "
      "below\n"
      "a pass, points grow with the logarithm of what is reached, from nothing at the starter. A wrong kernel earns\n"
      "nothing. Keep the names of the files: they say which chapter a file is for.\n",
      shares_text(terms, chapters));
  text += fmt::format("Of several submissions the {} counts. Of one hand-in at most {} files a chapter are graded.\n",
                      terms.counts == CourseTerms::Counts::best ? "best" : "last", kMostGraded);
  if (terms.late.per_day > 0)
    text += fmt::format("Each day late that has begun costs {:.0f} % of the points.\n", 100 * terms.late.per_day);
  if (terms.late.most_days < 1e6)
    text += fmt::format("After {} day{} nothing is accepted.\n", points_text(terms.late.most_days),
                        terms.late.most_days == 1 ? "" : "s");
  if (!terms.hidden_seeds.empty() || !terms.hidden_sizes.empty()) {
    text +=
        "Grading also uses sizes and inputs that are not shown here: write a kernel that is right for all of them.\n";
  }
  return text;
}

}  // namespace roofwalk
