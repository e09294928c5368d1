#include "book/truth/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "book/truth/check.h"

namespace roofwalk::book {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
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
