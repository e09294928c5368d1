#include "book/truth/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk::book {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Page, HasItsMarksInOrderWithTheirBlocks) {
  const auto page = parse_page(
      "# Title\n"
      "<!-- copy: a.cu my/b.cu -->\n"
      "<!-- let first: ./roofwalk run x --kernel a.cu -->\n"
      "<!-- run: ./roofwalk list | lines \"a b\" to \"^c\" -->\n"
      "```text\n"
      "$ ./roofwalk list\n"
      "```\n"
      "<!-- figure: my/plots/x.svg -->\n"
      "![words](images/x.svg)\n");
  ASSERT_TRUE(page) << page.error().text();
  ASSERT_EQ(page->marks.size(), 4u);
  EXPECT_EQ(page->marks[0].subject, "a.cu my/b.cu");
  EXPECT_EQ(page->marks[1].kind, MarkKind::let);
  EXPECT_EQ(page->marks[1].name, "first");
  EXPECT_EQ(page->marks[1].subject, "run x --kernel a.cu");
  EXPECT_EQ(page->marks[2].subject, "list");
  ASSERT_EQ(page->marks[2].kept.size(), 1u);
  EXPECT_EQ(page->marks[2].kept[0].first, "a b");
  EXPECT_EQ(page->marks[2].kept[0].last, "^c");
  EXPECT_EQ(page->marks[2].begin, 5u);
  EXPECT_EQ(page->marks[2].end, 6u);
  EXPECT_EQ(page->marks[3].image, "images/x.svg");
}

TEST(Page, ListOfLessonsEndsWithItsItems) {
  const auto page = parse_page("<!-- lessons: chapters -->\n- [a](b)\n- [c](d)\n\n- [e](f)\n");
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_EQ(page->marks[0].kind, MarkKind::lessons);
  EXPECT_EQ(page->marks[0].begin, 1u);
  EXPECT_EQ(page->marks[0].end, 3u);
  EXPECT_THAT(*true_block(page->marks[0], "- [x](y)\n"), ElementsAre("- [x](y)"));
}

TEST(Page, ProseIsWithoutMarksAndCode) {
  const auto page =
      parse_page("<!-- let a: ./roofwalk list -->\n5 ms<!-- a elapsed_ns -->\n```sh\n<!-- no mark -->\n```\nend\n");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->prose, "\n5 ms<!-- a elapsed_ns -->\n\n\n\nend\n");
}

std::string trouble_of(const std::string& text) {
  const auto page = parse_page(text);
  return page ? "none" : page.error().text();
}

TEST(Page, SaysWhichMarkIsNone) {
  EXPECT_THAT(trouble_of("text\n<!-- runs: ./roofwalk list -->\n"), HasSubstr("is no mark"));
  EXPECT_THAT(trouble_of("<!-- run: rm -rf my -->\n```\n```\n"), HasSubstr("begins with ./roofwalk"));
  EXPECT_THAT(trouble_of("<!-- run: ./roofwalk list -->\n\n```\n```\n"), HasSubstr("right below its mark"));
  EXPECT_THAT(trouble_of("<!-- file: a.cu -->\n```cuda\nint a;\n"), HasSubstr("has no end"));
  EXPECT_THAT(trouble_of("<!-- draw: banks 32 -->\ntext\n"), HasSubstr("right below stands its image"));
  EXPECT_THAT(trouble_of("<!-- draw: banks 32 -->\n![](images/a.svg)\n"), HasSubstr("right below stands its image"));
}

TEST(Block, OfAFileLosesItsIndent) {
  const Mark mark{.kind = MarkKind::file, .kept = {{"f(", "^}"}}};
  const auto block = true_block(mark, "int a;\nvoid f() {\n  {\n  }\n}\nint b;\n");
  ASSERT_TRUE(block);
  EXPECT_THAT(*block, ElementsAre("void f() {", "  {", "  }", "}"));
  const Mark inner{.kind = MarkKind::file, .kept = {{"{ 1", "}"}}};
  EXPECT_THAT(*true_block(inner, "void f() {\n    { 1;\n      2;\n    }\n}\n"), ElementsAre("{ 1;", "  2;", "}"));
}

TEST(Block, OfACommandShowsWhatIsTypedAndWhatIsLeftOut) {
  const Mark all{.kind = MarkKind::run, .subject = "list"};
  EXPECT_THAT(*true_block(all, "one\ntwo  \n"), ElementsAre("$ ./roofwalk list", "one", "two"));
  const Mark middle{.kind = MarkKind::run, .subject = "list", .kept = {{"two", "three"}}};
  EXPECT_THAT(*true_block(middle, "one\ntwo\nthree\nfour\n"),
              ElementsAre("$ ./roofwalk list", "[...]", "two", "three", "[...]"));
  const Mark end{.kind = MarkKind::run, .subject = "list", .kept = {{"three", "four"}}};
  EXPECT_THAT(*true_block(end, "one\nthree\nfour\n"), ElementsAre("$ ./roofwalk list", "[...]", "three", "four"));
}

TEST(Block, OfACommandMayBeOfSeveralRanges) {
  const auto page = parse_page(
      "<!-- run: ./roofwalk list | lines \"one\" to \"one\", \"three\" to \"four\", \"five\" to \"five\" "
      "-->\n```\n```\n");
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_EQ(page->marks[0].subject, "list");
  const auto block = [&](const std::string& printed) { return *true_block(page->marks[0], printed); };
  const auto wanted = ElementsAre("$ ./roofwalk list", "one", "[...]", "three", "four", "[...]", "five");
  EXPECT_THAT(block("one\ntwo\nthree\nfour\nand a half\nfive\n"), wanted);
  EXPECT_THAT(block("one\nthree\nfour\nfive\n"), wanted) << "what is left out comes and goes";
  EXPECT_FALSE(true_block(page->marks[0], "three\nfour\none\nfive\n")) << "out of order";
  EXPECT_THAT(trouble_of("<!-- file: a.cu | lines \"a\" to \"b\", \"c\" to \"d\" -->\n```\n```\n"),
              HasSubstr("only what a command prints"));
}

TEST(Block, SaysWhichLineIsNotThere) {
  const Mark mark{.kind = MarkKind::run, .line = 7, .subject = "list", .kept = {{"five", "six"}}};
  const auto block = true_block(mark, "one\ntwo\n");
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().line, 7);
  EXPECT_THAT(block.error().message, HasSubstr("\"five\""));
}

}  // namespace
}  // namespace roofwalk::book
