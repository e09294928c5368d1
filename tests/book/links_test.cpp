#include "book/truth/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "book/truth/check.h"

namespace roofwalk::book {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAreArray;

const fs::path kRoot = ROOFWALK_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns the pages of the site, by their paths in the project.
std::vector<fs::path> pages() {
  std::vector<fs::path> found = {"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(kRoot / "book")) {
    if (entry.path().extension() == ".md") found.push_back("book" / entry.path().filename());
  }
  for (const auto& entry : fs::directory_iterator(kRoot / "chapters")) {
    if (fs::exists(entry.path() / "lesson.md")) found.push_back("chapters" / entry.path().filename() / "lesson.md");
  }
  return found;
}

// Returns the guides beside the code: READMEs, rules, lists.
std::vector<fs::path> guides() {
  std::vector<fs::path> found;
  for (const char* folder : {"common", "grader", "tests", "book/truth", "book/site"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() == ".md") found.push_back(fs::relative(entry.path(), kRoot));
    }
  }
  return found;
}

TEST(Links, AreFoundOutsideOfCode) {
  const auto links = links_of("[a](b.md) and ![c](d.svg)\n`[e](f.md)`\n\n    [g](h.md)\n\n```\n[i](j.md)\n```\n");
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].target, "b.md");
  EXPECT_TRUE(links[1].is_image);
  EXPECT_EQ(links[1].text, "c");
}

TEST(Links, AnchorsAreThoseOfForges) {
  EXPECT_THAT(anchors_of("# The L1 & `L2`: caches\n## Again\n## Again\n```\n# none\n```\n"),
              ElementsAre("again", "again-1", "the-l1--l2-caches"));
}

TEST(Links, OfEveryPageLeadSomewhere) {
  for (const fs::path& page : pages()) EXPECT_THAT(broken_links(kRoot, page), IsEmpty()) << page;
  for (const fs::path& guide : guides()) EXPECT_THAT(broken_links(kRoot, guide), IsEmpty()) << guide;
}

TEST(Links, ThatLeadNowhereAreTold) {
  const fs::path folder = fs::path(testing::TempDir()) / "book_links";
  fs::create_directories(folder);
  std::ofstream(folder / "a.md") << "# One\n[x](b.md)\n[y](#two)\n[z](#one)\n![](a.md)\n![w](https://a.b/c.svg)\n";
  const auto broken = broken_links(folder, "a.md");
  fs::remove_all(folder);
  ASSERT_EQ(broken.size(), 4u);
  EXPECT_EQ(broken[0], "a.md:2: there is no such file (b.md)");
  EXPECT_EQ(broken[1], "a.md:3: that page has no such heading (#two)");
  EXPECT_EQ(broken[2], "a.md:5: an image needs words that say what it shows (a.md)");
  EXPECT_EQ(broken[3], "a.md:6: an image lies in this project (https://a.b/c.svg)");
}

// book/README.md is the table of contents: a page that it does not list is not in the site.
TEST(Contents, NameEveryPageOnce) {
  std::vector<std::string> named;
  for (const Link& link : links_of(text_of(kRoot / "book/README.md"))) {
    if (link.target.ends_with(".md")) named.push_back(("book" / fs::path(link.target)).lexically_normal().string());
  }
  std::vector<std::string> all;
  for (const fs::path& page : pages()) {
    if (page != "README.md" && page != "book/README.md") all.push_back(page.string());
  }
  EXPECT_THAT(named, UnorderedElementsAreArray(all));
}

// Counts the words of a lesson's prose.
std::size_t words_of_prose(std::string text) {
  for (std::size_t from; (from = text.find("<!--")) != std::string::npos;)
    text.erase(from, text.find("-->", from) + 3 - from);
  std::istringstream in(text);
  std::size_t words = 0;
  bool is_code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) is_code = !is_code;
    std::istringstream in_line(is_code ? "" : line);
    for (std::string word; in_line >> word;) ++words;
  }
  return words;
}

// The map's rows are the lessons in their order. Their minutes follow from the words and the steps, as the page says.
TEST(CourseMap, HasEachLessonWithTheMinutesThatItTakes) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kRoot / "chapters")) {
    if (fs::exists(entry.path() / "lesson.md")) folders.push_back(entry.path().filename());
  }
  std::sort(folders.begin(), folders.end());
  std::istringstream map(text_of(kRoot / "book/course-map.md"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(map, line);) {
    if (line.starts_with("| ") && line.find("/lesson.md)") != std::string::npos) rows.push_back(line);
  }
  ASSERT_EQ(rows.size(), folders.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t words = words_of_prose(text_of(kRoot / "chapters" / folders[i] / "lesson.md"));
    const auto steps = std::distance(fs::directory_iterator(kRoot / "solutions" / folders[i]), {});
    const double minutes = static_cast<double>(words) / 150 + 20.0 * static_cast<double>(steps);
    EXPECT_THAT(rows[i], StartsWith("| " + std::to_string(i + 1) + " ["));
    EXPECT_THAT(rows[i], HasSubstr("(../chapters/" + folders[i].string() + "/lesson.md)"));
    EXPECT_THAT(rows[i], HasSubstr("| " + std::to_string(std::lround(minutes / 10) * 10) + " |"));
  }
}

// Every picture in book/images is made by a page's mark, is shown by a page, and has a dark version.
TEST(Pictures, AreThoseThatMarksMake) {
  std::vector<std::string> made, there;
  for (const fs::path& page : pages()) {
    if (page.parent_path() != "book") continue;
    const auto parsed = parse_page(text_of(kRoot / page));
    ASSERT_TRUE(parsed) << page << parsed.error().text();
    for (const Mark& mark : parsed->marks) {
      if (mark.image.empty()) continue;
      made.push_back(mark.image);
      made.push_back(dark_name(mark.image));
    }
    for (const Link& link : links_of(text_of(kRoot / page))) {
      if (!link.is_image) continue;
      EXPECT_NE(std::find(made.begin(), made.end(), link.target), made.end()) << page << ": " << link.target;
    }
  }
  for (const auto& entry : fs::directory_iterator(kRoot / "book/images")) {
    there.push_back("images/" + entry.path().filename().string());
  }
  EXPECT_THAT(there, UnorderedElementsAreArray(made));
}

}  // namespace
}  // namespace roofwalk::book
