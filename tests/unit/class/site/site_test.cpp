// The pages name nobody unless asked, contain no foreign markup, and load nothing from elsewhere.
#include "grader/class/site/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/pattern.h"
#include "common/measure/roofs.h"
#include "grader/class/site/class_chart.h"
#include "tests/support/golden.h"
#include "tests/support/small_class.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Site {
  std::map<std::string, std::string> files;
  std::vector<std::string> order;  // in which they were written
  PageNames names;
};

Site site_of(const Gradebook& book, bool shows_names, const std::string& salt = "salt", int reload_s = 0) {
  std::vector<Chart> charts;
  for (const Column& column : book.columns) {
    Chart chart;
    chart.title = column.chapter;
    chart.level = column.level;
    chart.roofs = roofs_of(*load_machine("classroom"));
    charts.push_back(chart);
  }
  Site site;
  site.names = *make_site({.book = book,
                           .salt = salt,
                           .shows_names = shows_names,
                           .charts = charts,
                           .starters = {Point{0.0833, 3e8}, std::nullopt},
                           .pages = [](const std::string& key) -> Result<GradePages> {
                             if (!key.starts_with("key-pass")) return GradePages{};
                             return GradePages{"<svg>plot</svg>", "<html>profile</html>"};
                           },
                           .reload_s = reload_s},
                          [&](const std::string& path, const std::string& text) {
                            site.files[path] = text;
                            site.order.push_back(path);
                            return Status(kOk);
                          });
  return site;
}

TEST(Site, NamesNobodyUnlessAsked) {
  const Gradebook book = test::small_class();
  for (const auto& [path, text] : site_of(book, false).files) {
    for (const StudentRow& row : book.rows) {
      EXPECT_THAT(text, Not(HasSubstr(row.owner.student))) << path;
      EXPECT_THAT(path, Not(HasSubstr(row.owner.student)));
    }
    EXPECT_THAT(text, Not(HasSubstr("Lovelace"))) << path;
    EXPECT_THAT(text, Not(HasSubstr("someone"))) << path;  // part of a file's path
  }
  const Site named = site_of(book, true);
  EXPECT_THAT(named.files.at("index.html"), HasSubstr("Ada Lovelace (17)</a>"));
}

TEST(Site, ChartsKeysUnderMemoryRoofsAlone) {
  Chart chart;
  chart.title = "mini-keys";
  chart.level = "dram";
  chart.baseline = "reference";
  chart.roofs = roofs_of(*load_machine("classroom"));
  chart.roofs.compute.clear();
  chart.roofs.is_memory_only = true;
  chart.roofs.unit = WorkUnit::key;
  const std::string svg = class_chart(
      chart,
      {{.point = {0.125, 4e9}, .kind = "starter", .label = ""}, {.point = {0.125, 15e9}, .kind = "ace", .label = ""}},
      false);
  EXPECT_THAT(svg, HasSubstr("useful key/s"));
  EXPECT_THAT(svg, HasSubstr("useful keys per byte"));
  EXPECT_THAT(svg, HasSubstr(">reference</span>"));
  const std::size_t roof = svg.find("class=\"roof\"");
  const std::string path = svg.substr(roof, svg.find("/>", roof) - roof);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'L'), 1) << path;  // one slope, and nothing flat
  for (const char* absent : {"inf", "nan", "FLOP"}) EXPECT_THAT(svg, Not(HasSubstr(absent)));
}

TEST(Site, SaysWhatIsNotDue) {
  const Site site = site_of(test::small_class_before_it_is_due(), false);
  const std::string& index = site.files.at("index.html");
  EXPECT_THAT(index, HasSubstr(">- <span class=\"quiet\">not due</span></td>"));
  EXPECT_THAT(index, HasSubstr("<td data-name=\"total\">not due</td>"));
  EXPECT_THAT(site.files.at(std::get<2>(site.names[0])), HasSubstr("There is no total yet: nothing is due yet."));
}

// Ada has handed in both chapters, but only the first one counts.
TEST(Site, SaysWhichPointsDoNotCountYet) {
  Gradebook book = test::small_class();
  book.columns[1].is_due = false;
  book.rows[1].total_percent = 100;
  const Site site = site_of(book, false);
  const std::string& page = site.files.at(std::get<2>(site.names[1]));
  EXPECT_THAT(page, HasSubstr("<p>Total of what is due: 100 %.</p>"));
  EXPECT_THAT(page, HasSubstr("<p>10 of 10, <span class=\"ace\">ace</span>.</p>"));
  EXPECT_THAT(page, HasSubstr("<p>7 of 20, goal missed, <span class=\"quiet\">not due yet</span>.</p>"));
  EXPECT_THAT(site.files.at("index.html"),
              HasSubstr("7 of 20 goal missed, <span class=\"quiet\">not due yet</span></td>"));
}

TEST(Site, TellsWhoMovedWhere) {
  Gradebook book = test::small_class();
  book.rows[4].cells[0].entries[0].dot = Point{0.2, 4e8};  // x2.4 right and x1.33 up from the starter
  const Site named = site_of(book, true), anonymous = site_of(book, false);
  const std::string& index = named.files.at("index.html");
  EXPECT_THAT(index, HasSubstr("<summary>From the starter: 1 right and up, 2 up</summary>"));
  EXPECT_THAT(
      index,
      HasSubstr("<tr><th>right and up</th><td>\xe6\x9d\x8e\xe5\xb0\x8f\xe9\xbe\x99 (x2.4 right, x1.33 up, pass)</td>"));
  EXPECT_THAT(index, HasSubstr("<title>Ada Lovelace (17)</title></circle>"));
  EXPECT_THAT(anonymous.files.at("index.html"), HasSubstr("<summary>From the starter: 1 right and up, 2 up</summary>"));
  // Dots and lists come in the order of the numbers: in that of the names, they would tell who is who.
  const std::string& hidden = anonymous.files.at("index.html");
  std::vector<int> numbers;
  const Pattern title("<title>student ([0-9]+)</title></circle>");
  for (const Pattern::Groups& match : title.search_all(hidden.substr(0, hidden.find("id=\"tiled-gemm\""))))
    numbers.push_back(std::stoi(match[1]));
  EXPECT_THAT(numbers, ::testing::SizeIs(3));
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST(Site, PagesLoadThemselvesAgainOnlyIfAsked) {
  for (const int reload_s : {0, 5}) {
    const Site site = site_of(test::small_class(), false, "salt", reload_s);
    std::vector<std::string> pages = {"index.html"};
    for (const auto& name : site.names) pages.push_back(name[2]);
    for (const std::string& page : pages) {
      const auto reloads = HasSubstr("<meta http-equiv=\"refresh\" content=\"5\">");
      if (reload_s > 0) {
        EXPECT_THAT(site.files.at(page), reloads);
      } else {
        EXPECT_THAT(site.files.at(page), Not(reloads));
      }
    }
  }
}

// While pages are replaced one by one, no link leads to a page that is still to come.
TEST(Site, APageComesAfterThoseToWhichItLinks) {
  const Site site = site_of(test::small_class(), true);
  EXPECT_EQ(site.order.back(), "index.html");
}

TEST(Site, WhoseTurnHasNotComeNeedsNobodysLook) {
  Gradebook book = test::small_class();
  Entry& waiting = book.rows[2].cells[1].entries[0];
  waiting.trouble.clear();
  waiting.reasons = {"not graded yet"};
  const std::string index = site_of(book, false).files.at("index.html");
  EXPECT_THAT(index, HasSubstr("? <span class=\"quiet\">not graded yet</span>"));
  EXPECT_THAT(index, HasSubstr("1 not graded yet"));
  EXPECT_THAT(index, Not(HasSubstr("a person will look")));
}

TEST(Site, PagesOfStudentsAreFoundOnlyByThoseWhoAreTold) {
  const Site site = site_of(test::small_class(), false);
  ASSERT_EQ(site.names.size(), 5u);
  for (const auto& [student, called, page] : site.names) {
    EXPECT_TRUE(site.files.contains(page)) << page;
    EXPECT_THAT(site.files.at("index.html"), Not(HasSubstr(page)));
    EXPECT_THAT(site.files.at(page), HasSubstr("<h1>" + called + "</h1>"));
  }
  EXPECT_NE(site_of(test::small_class(), false, "other salt").names, site.names);
}

TEST(Site, HoldsNothingFromElsewhereAndNobodysMarkup) {
  for (const bool named : {false, true}) {
    for (const auto& [path, text] : site_of(test::small_class(), named).files) {
      EXPECT_THAT(text, Not(HasSubstr("http:"))) << path;
      EXPECT_THAT(text, Not(HasSubstr("https:"))) << path;
      EXPECT_THAT(text, Not(HasSubstr("<script"))) << path;
      EXPECT_THAT(text, Not(HasSubstr("<b>"))) << path;
      EXPECT_EQ(text.find('\x1b'), std::string::npos) << path;
    }
  }
}

TEST(Site, NothingTurnsOrHidesItsText) {
  Gradebook book = test::small_class();
  book.rows[0].owner.student =
      "a\xe2\x80\xae"
      "b\xc2\x9b"
      "c";
  for (const auto& [path, text] : site_of(book, true).files) {
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << path;
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << path;
  }
  EXPECT_THAT(site_of(book, true).files.at("index.html"), HasSubstr(">a?b?c</a>"));
}

TEST(Site, LinksLeadToItsOwnFiles) {
  const Site site = site_of(test::small_class(), true);
  const Pattern link("(href|src)=\"([^\"]*)\"");
  int links = 0;
  for (const auto& [path, text] : site.files) {
    for (const Pattern::Groups& match : link.search_all(text)) {
      ++links;
      const auto target = (std::filesystem::path(path).parent_path() / match[2]).lexically_normal();
      EXPECT_TRUE(site.files.contains(target.string())) << path << " links to " << target;
    }
  }
  EXPECT_GE(links, 5 + 3 + 3);
}

TEST(Site, AWebServerHasNothingToList) {
  for (const bool named : {false, true}) {
    const Site site = site_of(test::small_class(), named);
    for (const auto& [path, text] : site.files) {
      const auto folder = std::filesystem::path(path).parent_path();
      EXPECT_TRUE(site.files.contains((folder / "index.html").string())) << folder;
    }
  }
}

TEST(Site, WhatCameIsToldWithoutItsPlace) {
  Gradebook book = test::small_class();
  book.rows[3].left_out = {{"class/Secret Name/kernel_final.cu", "its name tells no chapter", "Secret Name"}};
  const Site site = site_of(book, false);
  const std::string& page = site.files.at(site.names[3][2]);
  EXPECT_THAT(page, HasSubstr("kernel_final.cu: its name tells no chapter"));
  EXPECT_THAT(page, Not(HasSubstr("Secret Name")));
}

// In a class without folders, the platform or the student puts the student's name before the file's name. The page must
// not show it.
TEST(Site, WhatCameIsToldWithoutItsName) {
  Gradebook book = test::small_class();
  book.rows[3].owner.student = "Secret Name (12)";
  for (const char* file : {"Secret Name_12_assignsubmission_file_a.pdf", "secretname_12_346_b.pdf", "Secret Name_c.cu",
                           "Secret Name.zip", "Secret Name", "Secret Name_12_assignsubmission_file_"})
    book.rows[3].left_out.push_back({std::string("c.zip/") + file, "cannot be graded", "Secret Name (12)"});
  const Site site = site_of(book, false);
  const std::string& page = site.files.at(site.names[3][2]);
  for (const char* told : {"<li>a.pdf: cannot", "<li>b.pdf: cannot", "<li>c.cu: cannot", "<li>a file: cannot"})
    EXPECT_THAT(page, HasSubstr(told));
  for (const char* name : {"Secret", "secret"}) EXPECT_THAT(page, Not(HasSubstr(name)));
}

TEST(Site, LooksAsItDid) {
  const Site site = site_of(test::small_class(), false);
  const Pattern style("<style>[^<]*</style>");
  testing::expect_golden(TEST_GOLDEN_DIR "/class.html", style.replace_all(site.files.at("index.html"), ""));
  testing::expect_golden(TEST_GOLDEN_DIR "/student.html", style.replace_all(site.files.at(site.names[2][2]), ""));
}

}  // namespace
}  // namespace roofwalk
